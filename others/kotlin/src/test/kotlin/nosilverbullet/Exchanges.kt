package nosilverbullet

import tools.jackson.databind.JsonNode
import tools.jackson.databind.json.JsonMapper
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse.BodyHandlers
import java.nio.file.Files
import java.nio.file.Path
import java.time.Duration
import java.util.Base64

/** The data of contract/, whose README explains the keys, and the client that plays them. */
object Exchanges {
    init {
        System.setProperty("jdk.httpclient.allowRestrictedHeaders", "connection,upgrade")
    }

    val CLIENT: HttpClient = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()
    val PATIENCE: Duration = Duration.ofSeconds(20)

    private data class Answer(
        val status: Int,
        val type: String,
        val length: String,
        val location: String,
        val allow: String,
        val upgrade: String,
        val body: String,
    )

    fun contract(file: String): JsonNode = JsonMapper().readTree(Files.readString(Path.of("../../contract", file)))

    fun request(url: String): HttpRequest.Builder = HttpRequest.newBuilder(URI.create(url)).timeout(PATIENCE)

    /** The requests that get another answer than theirs while database and upstream are away, each with what it got. */
    fun answeredWrongly(service: String): List<String> {
        val exchanges = contract("exchanges.json")
        val away = exchanges.path("away")
        val wrong = mutableListOf<String>()
        for (group in exchanges.path("groups")) {
            val needs = group.at("/needs/0").stringValue("")
            if (needs.startsWith("/")) {
                continue // an endpoint that this service has not
            }
            val answer = if (away.has(needs)) away.path(needs) else group.path("answer")
            for (said in group.path("requests")) {
                val got = play(service, said)
                if (got != wanted(answer, said)) {
                    wrong += "$said\n$got"
                }
            }
        }
        return wrong
    }

    private fun play(service: String, said: JsonNode): Answer {
        val sent = request(service + said.path("target").stringValue())
        var body = BodyPublishers.noBody()
        if (said.has("body")) {
            body = BodyPublishers.ofByteArray(bytes(said.path("body")))
        }
        if (said.path("chunked").booleanValue(false)) {
            body = BodyPublishers.fromPublisher(body) // of no known length
        }
        sent.method(said.path("method").stringValue(), body)
        for ((name, value) in said.path("headers").properties()) {
            sent.header(name, value.stringValue())
        }
        if (said.has("content_type")) {
            sent.header("Content-Type", said.path("content_type").stringValue())
        }
        val got = CLIENT.send(sent.build(), BodyHandlers.ofString())
        val header = { name: String -> got.headers().firstValue(name).orElse("") }
        return Answer(
            status = got.statusCode(),
            type = header("Content-Type").substringBefore(';').lowercase(),
            length = header("Content-Length"),
            location = header("Location"),
            allow = header("Allow"),
            upgrade = header("Upgrade"),
            body = got.body(),
        )
    }

    private fun wanted(answer: JsonNode, said: JsonNode): Answer {
        val body = bytes(answer.path("body"))
        return Answer(
            status = answer.path("status").intValue(),
            type = answer.path("content_type").stringValue(),
            length = if (answer.has("body")) "${body.size}" else "",
            location = answer.path("location").stringValue(""),
            allow = answer.path("allow").stringValue(""),
            upgrade = answer.path("upgrade").stringValue(""),
            body = if (said.path("method").stringValue() == "HEAD") "" else body.decodeToString(),
        )
    }

    /** A body: a string, a list of parts, a repeated string, or bytes in base64. */
    private fun bytes(body: JsonNode): ByteArray = when {
        body.isArray -> body.fold(byteArrayOf()) { whole, part -> whole + bytes(part) }

        body.has("base64") -> Base64.getDecoder().decode(body.path("base64").stringValue())

        body.has(
            "repeat",
        ) -> body.path("repeat").stringValue().repeat(body.path("times").intValue()).encodeToByteArray()

        else -> body.stringValue("").encodeToByteArray()
    }
}
