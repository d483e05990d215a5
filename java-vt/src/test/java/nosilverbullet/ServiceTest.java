package nosilverbullet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The exchanges and settings of contract/, with database and upstream away, and what those cannot say. */
class ServiceTest {
    static {
        System.setProperty("jdk.httpclient.allowRestrictedHeaders", "connection,upgrade");
    }

    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Map<String, String> ENVIRONMENT = Map.of(
            "DATABASE_URL", "mysql://user:secret@127.0.0.1:1/nsb", // nobody listens there
            "UPSTREAM_URL", "http://127.0.0.1:1",
            "WORKERS", "2");

    private record Answer(
            int status, String type, String length, String location, String allow, String upgrade, String body) {}

    @ParameterizedTest
    @ValueSource(strings = {"true", "false"})
    void answersAsTheExchangesSay(String virtual) throws Exception {
        var exchanges = contract("exchanges.json");
        var wrong = new ArrayList<String>();
        try (var service = start(Map.of("VIRTUAL_THREADS", virtual))) {
            for (var group : exchanges.path("groups")) {
                var needs = group.at("/needs/0").stringValue("");
                var answer = exchanges.path("away").has(needs)
                        ? exchanges.path("away").path(needs)
                        : group.path("answer");
                for (var request : group.path("requests")) {
                    var got = play(service, request);
                    if (!got.equals(wanted(answer, request))) {
                        wrong.add(request + "\n" + got);
                    }
                }
            }
        }
        assertEquals(List.of(), wrong);
    }

    private static Answer play(ConfigurableApplicationContext service, JsonNode request) throws Exception {
        var sent = request(service, request.path("target").stringValue());
        var body = BodyPublishers.noBody();
        if (request.has("body")) {
            body = BodyPublishers.ofByteArray(bytes(request.path("body")));
        }
        if (request.path("chunked").booleanValue(false)) {
            body = BodyPublishers.fromPublisher(body); // of no known length
        }
        sent.method(request.path("method").stringValue(), body);
        request.path("headers")
                .properties()
                .forEach(
                        header -> sent.header(header.getKey(), header.getValue().stringValue()));
        if (request.has("content_type")) {
            sent.header("Content-Type", request.path("content_type").stringValue());
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

    private static Answer wanted(JsonNode answer, JsonNode request) throws IOException {
        var body = bytes(answer.path("body"));
        boolean head = request.path("method").stringValue().equals("HEAD");
        return new Answer(
                answer.path("status").intValue(),
                answer.path("content_type").stringValue(),
                answer.has("body") ? "" + body.length : "",
                answer.path("location").stringValue(""),
                answer.path("allow").stringValue(""),
                answer.path("upgrade").stringValue(""),
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
            return Base64.getDecoder().decode(body.path("base64").stringValue());
        }
        var text = body.has("repeat")
                ? body.path("repeat").stringValue().repeat(body.path("times").intValue())
                : body.stringValue("");
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void startsWithGoodSettingsAndRefusesWrongOnes() throws Exception { // C42
        for (var variable : contract("settings.json").path("variables")) {
            for (var value : variable.path("good")) {
                Settings.from(environment(variable, value));
            }
            for (var value : variable.path("bad")) {
                var environment = environment(variable, value);
                var said = assertThrows(Settings.Wrong.class, () -> Settings.from(environment))
                        .getMessage();
                var sentence = variable.path("sentence").stringValue("").replace("{value}", value.stringValue());
                var begins = variable.path("begins").stringValue("").replace("{value}", value.stringValue());
                assertTrue(sentence.isEmpty() ? said.startsWith(begins) : said.equals(sentence), said);
                assertFalse(said.contains("secret") || said.contains("\n"), said);
            }
        }
    }

    @Test
    void admitsAsManyConnectionsAsAnOperatorSays() throws Exception {
        try (var service = start(Map.of())) {
            assertTrue(get(service, "/runtime").body().contains("\"max_connections\":null")); // C62
        }
        System.setProperty("server.tomcat.max-connections", "600");
        try (var service = start(Map.of())) {
            assertTrue(get(service, "/runtime").body().contains("\"max_connections\":600"));
        } finally {
            System.clearProperty("server.tomcat.max-connections");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"true", "false"})
    void streamsEndAtOnceWhenTheServiceStopsAndTheOthersFinish(String virtual) throws Exception { // C41
        var service = start(Map.of("VIRTUAL_THREADS", virtual));
        var events = CLIENT.send(request(service, "/events?interval_ms=60000").build(), BodyHandlers.ofInputStream());
        var closed = new CompletableFuture<Integer>();
        CLIENT.newWebSocketBuilder()
                .buildAsync(URI.create(url(service, "/ws").replace("http", "ws")), new WebSocket.Listener() {
                    @Override
                    public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
                        closed.complete(code);
                        return null;
                    }
                })
                .join();
        var sleeping = CLIENT.sendAsync(request(service, "/sleep?ms=1000").build(), BodyHandlers.ofString());
        while (!get(service, "/stats").body().contains("\"in_flight\":3,")) {
            Thread.sleep(1);
        }
        var stopped = CompletableFuture.runAsync(service::close);
        assertEquals("data: 0\n\n", new String(events.body().readAllBytes(), StandardCharsets.US_ASCII));
        assertEquals(1001, closed.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        assertEquals("{\"slept_ms\":1000}", sleeping.get().body());
        stopped.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void answersWhatItsLibrariesWouldRefuse() throws Exception {
        try (var service = start(Map.of())) {
            var json = "{\"name\":\"x\",\"y\":" + "1".repeat(60_000) + "}"; // C23
            var post = request(service, "/books")
                    .header("Content-Type", "application/json")
                    .POST(BodyPublishers.ofString(json));
            assertEquals(503, CLIENT.send(post.build(), BodyHandlers.ofString()).statusCode());
        }
    }

    @ParameterizedTest
    @CsvSource({"apache,virtual threads", "jdk,'virtual threads, the JDK''s HttpClient'"})
    void callsItsUpstreamByEitherClient(String client, String model) throws Exception { // C11, C37
        var upstream = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        upstream.createContext("/delay", exchange -> {
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        upstream.start();
        var url = "http://127.0.0.1:" + upstream.getAddress().getPort();
        try (var service = start(Map.of("UPSTREAM_URL", url, "upstream.client", client))) {
            var answer = get(service, "/fanout?calls=20&ms=1&mode=concurrent");
            assertEquals("{\"calls\":20,\"mode\":\"concurrent\",\"completed\":20}", answer.body());
            upstream.stop(0);
            assertEquals(
                    502, get(service, "/fanout?calls=1&ms=1&mode=sequential").statusCode());
            assertTrue(get(service, "/runtime").body().contains("\"concurrency_model\":\"" + model + "\""));
        } finally {
            upstream.stop(0);
        }
    }

    @Test
    void theBooksInH2AreThoseOfTheCommonDatabase() {
        var books = H2.books(2);
        var last = books.sql("SELECT name FROM books WHERE id = 10000").query(String.class);
        assertEquals("Book 10000", last.single());
        var key = new GeneratedKeyHolder();
        books.sql("INSERT INTO books (name) VALUES (?)").param("x").update(key);
        assertEquals(10001, key.getKey().longValue());
    }

    @Test
    void aMistakeOfOursIsAnInternalError() { // C39
        var mistake = new IllegalStateException("a mistake of ours");
        mistake.setStackTrace(new StackTraceElement[0]); // which would be told
        var answer = new Problems().answer(mistake);
        assertEquals(500, answer.getStatusCode().value());
        assertEquals("internal error", answer.getBody().getDetail());
    }

    @Test
    void theJdkTellsWhoWasPinned() throws Exception { // C17
        try (var service = start(Map.of())) {
            var before = get(service, "/pinnings").body();
            Thread.ofVirtual().start(Sleeper::touch).join();
            assertNotEquals(before, get(service, "/pinnings").body());
        }
    }

    /** Who waits in an initializer is pinned on every JDK: the JVM's own frame below it cannot be moved. */
    private static final class Sleeper {
        static {
            try {
                Thread.sleep(1);
            } catch (InterruptedException stopped) {
                throw new IllegalStateException(stopped);
            }
        }

        static void touch() {}
    }

    private static JsonNode contract(String file) throws IOException {
        return new JsonMapper().readTree(Files.readString(Path.of("../contract", file)));
    }

    private static Map<String, String> environment(JsonNode variable, JsonNode value) {
        var own = new HashMap<String, String>();
        variable.path("with")
                .properties()
                .forEach(other -> own.put(other.getKey(), other.getValue().stringValue()));
        own.put(variable.path("variable").stringValue(), value.stringValue());
        return environment(own);
    }

    private static Map<String, String> environment(Map<String, String> own) {
        var environment = new HashMap<>(ENVIRONMENT);
        environment.putAll(own);
        return environment;
    }

    private static ConfigurableApplicationContext start(Map<String, String> own) throws IOException {
        var environment = environment(own);
        try (var socket = new ServerSocket(0, 0, InetAddress.getLoopbackAddress())) {
            environment.put("PORT", "" + socket.getLocalPort());
        }
        environment.put("DB_POOL_SIZE", "3");
        List.of("VIRTUAL_THREADS", "upstream.client").forEach(System::clearProperty); // of the start before
        own.forEach(System::setProperty); // what is no setting of the contract is a property of Spring's
        return Main.start(Settings.from(environment));
    }

    private static String url(ConfigurableApplicationContext service, String target) {
        return "http://127.0.0.1:" + service.getEnvironment().getProperty("local.server.port") + target;
    }

    private static HttpRequest.Builder request(ConfigurableApplicationContext service, String target) {
        return HttpRequest.newBuilder(URI.create(url(service, target))).timeout(PATIENCE);
    }

    private static HttpResponse<String> get(ConfigurableApplicationContext service, String target) throws Exception {
        return CLIENT.send(request(service, target).build(), BodyHandlers.ofString());
    }

    private static String header(HttpResponse<String> answer, String name) {
        return answer.headers().firstValue(name).orElse("");
    }
}
