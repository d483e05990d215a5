package nosilverbullet;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** The data of contract/, whose README explains the keys, and the client that plays them. */
final class Exchanges {
    static {
        System.setProperty("jdk.httpclient.allowRestrictedHeaders", "connection,upgrade");
    }

    static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    static final Duration PATIENCE = Duration.ofSeconds(20);

    private record Answer(
            int status, String type, String length, String location, String allow, String upgrade, String body) {}

    private Exchanges() {}

    static JsonNode contract(String file) throws IOException {
        return new JsonMapper().readTree(Files.readString(Path.of("../../contract", file)));
    }

    static HttpRequest.Builder request(String url) {
        return HttpRequest.newBuilder(URI.create(url)).timeout(PATIENCE);
    }

    /** The requests that get another answer than theirs while database and upstream are away, each with what it got. */
    static List<String> answeredWrongly(String service) throws Exception {
        var exchanges = contract("exchanges.json");
        var wrong = new ArrayList<String>();
        for (var group : exchanges.path("groups")) {
            var needs = group.at("/needs/0").asText();
            if (needs.startsWith("/")) {
                continue; // an endpoint that this service has not
            }
            var answer =
                    exchanges.path("away").has(needs) ? exchanges.path("away").path(needs) : group.path("answer");
            for (var said : group.path("requests")) {
                var got = play(service, said);
                if (!got.equals(wanted(answer, said))) {
                    wrong.add(said + "\n" + got);
                }
            }
        }
        return wrong;
    }

    private static Answer play(String service, JsonNode said) throws Exception {
        var sent = request(service + said.path("target").asText());
        var body = BodyPublishers.noBody();
        if (said.has("body")) {
            body = BodyPublishers.ofByteArray(bytes(said.path("body")));
        }
        if (said.path("chunked").asBoolean()) {
            body = BodyPublishers.fromPublisher(body); // of no known length
        }
        sent.method(said.path("method").asText(), body);
        said.path("headers")
                .fields()
                .forEachRemaining(
                        header -> sent.header(header.getKey(), header.getValue().asText()));
        if (said.has("content_type")) {
            sent.header("Content-Type", said.path("content_type").asText());
        }
        var got = CLIENT.send(sent.build(), BodyHandlers.ofString());
        return new Answer(
                got.statusCode(),
                header(got, "Content-Type").split(";")[0].toLowerCase(),
                header(got, "Content-Length"),
                header(got, "Location"),
                header(got, "Allow"),
                header(got, "Upgrade"),
                got.body());
    }

    private static Answer wanted(JsonNode answer, JsonNode said) throws IOException {
        var body = bytes(answer.path("body"));
        boolean head = said.path("method").asText().equals("HEAD");
        return new Answer(
                answer.path("status").asInt(),
                answer.path("content_type").asText(),
                answer.has("body") ? "" + body.length : "",
                answer.path("location").asText(),
                answer.path("allow").asText(),
                answer.path("upgrade").asText(),
                head ? "" : new String(body, StandardCharsets.UTF_8));
    }

    /** A body: a string, a list of parts, a repeated string, or bytes in base64. */
    private static byte[] bytes(JsonNode body) throws IOException {
        if (body.isArray()) {
            var whole = new ByteArrayOutputStream();
            for (var part : body) {
                whole.write(bytes(part));
            }
            return whole.toByteArray();
        }
        if (body.has("base64")) {
            return Base64.getDecoder().decode(body.path("base64").asText());
        }
        var text = body.has("repeat")
                ? body.path("repeat").asText().repeat(body.path("times").asInt())
                : body.asText();
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String header(HttpResponse<String> answer, String name) {
        return answer.headers().firstValue(name).orElse("");
    }
}
