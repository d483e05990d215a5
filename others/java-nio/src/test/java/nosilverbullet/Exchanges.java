package nosilverbullet;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The data of contract/, whose README explains the keys: of the exchanges those that this service has a part in. */
final class Exchanges {
    private static final Set<String> ENDPOINTS = Set.of("/healthz", "/runtime", "/stats", "/hello");

    private record Answer(int status, String type, String length, String allow, String body) {}

    private Exchanges() {}

    static JsonNode contract(String file) throws IOException {
        return new JsonMapper().readTree(Files.readString(Path.of("../../contract", file)));
    }

    /** The requests that get another answer than theirs, each with what it got. */
    static List<String> answeredWrongly(int port) throws Exception {
        var wrong = new ArrayList<String>();
        try (var client = HttpClient.newHttpClient()) {
            for (var group : contract("exchanges.json").path("groups")) {
                var answer = group.path("answer");
                boolean unknown = answer.path("body").asString("").contains("nothing is here");
                for (var said : group.path("requests")) {
                    var target = said.path("target").stringValue();
                    if (unknown || ENDPOINTS.contains(target.split("\\?", 2)[0])) {
                        var got = play(client, URI.create("http://127.0.0.1:" + port + target), said);
                        if (!got.equals(wanted(answer, said))) {
                            wrong.add(said + "\n" + got);
                        }
                    }
                }
            }
        }
        return wrong;
    }

    private static Answer play(HttpClient client, URI uri, JsonNode said) throws Exception {
        var body = said.has("body") ? BodyPublishers.ofString(text(said.path("body"))) : BodyPublishers.noBody();
        var sent = HttpRequest.newBuilder(uri)
                .version(HttpClient.Version.HTTP_1_1) // without the offer of another one
                .timeout(Duration.ofSeconds(10))
                .method(said.path("method").stringValue(), body)
                .build();
        var got = client.send(sent, BodyHandlers.ofString());
        return new Answer(
                got.statusCode(),
                header(got, "Content-Type"),
                header(got, "Content-Length"),
                header(got, "Allow"),
                got.body());
    }

    private static Answer wanted(JsonNode answer, JsonNode said) {
        var body = text(answer.path("body"));
        boolean head = said.path("method").stringValue().equals("HEAD");
        return new Answer(
                answer.path("status").intValue(),
                answer.path("content_type").stringValue(),
                "" + body.length(),
                answer.path("allow").stringValue(""),
                head ? "" : body);
    }

    /** A string, or the one part of a long body. */
    private static String text(JsonNode body) {
        var part = body.path(0);
        return part.has("repeat")
                ? part.path("repeat").stringValue().repeat(part.path("times").intValue())
                : body.stringValue();
    }

    private static String header(HttpResponse<String> answer, String name) {
        return answer.headers().firstValue(name).orElse("");
    }
}
