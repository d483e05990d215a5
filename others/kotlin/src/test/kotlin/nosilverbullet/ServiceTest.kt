package nosilverbullet

import nosilverbullet.Exchanges.CLIENT
import nosilverbullet.Exchanges.PATIENCE
import nosilverbullet.Exchanges.request
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource
import org.springframework.context.ConfigurableApplicationContext
import java.net.InetAddress
import java.net.ServerSocket
import java.net.URI
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse.BodyHandlers
import java.net.http.WebSocket
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import java.util.concurrent.TimeUnit.SECONDS

val ENVIRONMENT = mapOf(
    "DATABASE_URL" to "mysql://user:secret@127.0.0.1:1/nsb", // nobody listens there
    "UPSTREAM_URL" to "http://127.0.0.1:1",
    "WORKERS" to "2",
)

/** The exchanges and settings of contract/, with database and upstream away, and what those cannot say. */
class ServiceTest {
    @ParameterizedTest
    @ValueSource(strings = ["coroutines", "3"])
    fun answersAsTheExchangesSay(fanout: String) {
        started("FANOUT" to fanout).use { assertEquals(emptyList<String>(), Exchanges.answeredWrongly(it.url(""))) }
    }

    @Test
    fun startsWithGoodSettingsAndRefusesWrongOnes() { // C42
        for (variable in Exchanges.contract("settings.json").path("variables")) {
            val name = variable.path("variable").stringValue()
            val others = variable.path("with").properties().associate { (other, value) -> other to value.stringValue() }
            for (value in variable.path("good")) {
                Settings.from(ENVIRONMENT + others + (name to value.stringValue()))
            }
            for (bad in variable.path("bad")) {
                val value = bad.stringValue()
                val said = refusal(others + (name to value))
                val sentence = variable.path("sentence").stringValue("").replace("{value}", value)
                val begins = variable.path("begins").stringValue("").replace("{value}", value)
                assertTrue(if (sentence.isEmpty()) said.startsWith(begins) else said == sentence, said)
                assertFalse("secret" in said || '\n' in said, said)
            }
        }
        assertEquals(
            "FANOUT=\"0\" is not coroutines or a whole number from 1 to 10000",
            refusal(mapOf("FANOUT" to "0")),
        )
    }

    private fun refusal(own: Map<String, String>) =
        assertThrows<Settings.Wrong> { Settings.from(ENVIRONMENT + own) }.message.orEmpty()

    @Test
    fun streamsEndAtOnceWhenTheServiceStopsAndTheOthersFinish() { // C41
        val service = started()
        val events = request(service.url("/events?interval_ms=60000")).build()
        val stream = CLIENT.send(events, BodyHandlers.ofInputStream())
        val closed = CompletableFuture<Int>()
        val listener = object : WebSocket.Listener {
            override fun onClose(socket: WebSocket, code: Int, reason: String): CompletionStage<*>? {
                closed.complete(code)
                return null
            }
        }
        CLIENT.newWebSocketBuilder().buildAsync(URI.create(service.url("/ws").replace("http", "ws")), listener).join()
        val sleeping = CLIENT.sendAsync(request(service.url("/sleep?ms=1000")).build(), BodyHandlers.ofString())
        while ("\"in_flight\":3," !in service.get("/stats")) {
            Thread.sleep(1)
        }
        val stopped = CompletableFuture.runAsync(service::close)
        assertEquals("data: 0\n\n", stream.body().readAllBytes().decodeToString())
        assertEquals(1001, closed.get(PATIENCE.seconds, SECONDS))
        assertEquals("""{"slept_ms":1000}""", sleeping.get().body())
        stopped.get(PATIENCE.seconds, SECONDS)
    }

    @Test
    fun answersWhatItsLibrariesWouldRefuse() = started().use { service ->
        val preflight = request(service.url("/hello")) // C21
            .method("OPTIONS", BodyPublishers.noBody())
            .header("Origin", "http://elsewhere")
            .header("Access-Control-Request-Method", "GET")
        assertEquals(405, CLIENT.send(preflight.build(), BodyHandlers.ofString()).statusCode())
        val json = """{"name":"x","y":${"1".repeat(60_000)}}""" // C23
        val post = request(service.url("/books"))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(json))
        assertEquals(503, CLIENT.send(post.build(), BodyHandlers.ofString()).statusCode())
    }

    @Test
    fun aMistakeOfOursIsAnInternalError() { // C39
        val mistake = IllegalStateException("a mistake of ours")
        mistake.stackTrace = emptyArray() // which would be told
        val wanted = Problem.Document("about:blank", "Internal Server Error", 500, "internal error")
        assertEquals(wanted, Problems().unexpected(mistake)?.body)
    }

    private fun started(vararg own: Pair<String, String>): ConfigurableApplicationContext {
        val port = ServerSocket(0, 0, InetAddress.getLoopbackAddress()).use { it.localPort }
        return start(Settings.from(ENVIRONMENT + ("PORT" to "$port") + ("DB_POOL_SIZE" to "3") + own))
    }

    private fun ConfigurableApplicationContext.url(target: String) =
        "http://127.0.0.1:${environment.getProperty("local.server.port")}$target"

    private fun ConfigurableApplicationContext.get(target: String): String =
        CLIENT.send(request(url(target)).build(), BodyHandlers.ofString()).body()
}
