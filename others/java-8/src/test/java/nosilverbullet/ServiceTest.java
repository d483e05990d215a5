package nosilverbullet;

import static nosilverbullet.Exchanges.CLIENT;
import static nosilverbullet.Exchanges.PATIENCE;
import static nosilverbullet.Exchanges.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.context.ConfigurableApplicationContext;

/** The exchanges and settings of contract/, with database and upstream away, and what those cannot say. */
class ServiceTest {
    private static final Map<String, String> ENVIRONMENT = Map.of(
            "DATABASE_URL", "mysql://user:secret@127.0.0.1:1/nsb", // nobody listens there
            "UPSTREAM_URL", "http://127.0.0.1:1",
            "WORKERS", "2");

    @Test
    void answersAsTheExchangesSay() throws Exception {
        try (var service = start()) {
            assertEquals(List.of(), Exchanges.answeredWrongly(url(service, "")));
        }
    }

    @Test
    void startsWithGoodSettingsAndRefusesWrongOnes() throws Exception { // C42
        for (var variable : Exchanges.contract("settings.json").path("variables")) {
            var own = new HashMap<String, String>();
            variable.path("with")
                    .fields()
                    .forEachRemaining(
                            other -> own.put(other.getKey(), other.getValue().asText()));
            for (var value : variable.path("good")) {
                own.put(variable.path("variable").asText(), value.asText());
                Settings.from(environment(own));
            }
            for (var value : variable.path("bad")) {
                own.put(variable.path("variable").asText(), value.asText());
                var environment = environment(own);
                var said = assertThrows(Settings.Wrong.class, () -> Settings.from(environment))
                        .getMessage();
                var sentence = variable.path("sentence").asText().replace("{value}", value.asText());
                var begins = variable.path("begins").asText().replace("{value}", value.asText());
                assertTrue(sentence.isEmpty() ? said.startsWith(begins) : said.equals(sentence), said);
                assertFalse(said.contains("secret") || said.contains("\n"), said);
            }
        }
    }

    @Test
    void streamsEndAtOnceWhenTheServiceStopsAndTheOthersFinish() throws Exception { // C41
        var service = start();
        var events =
                CLIENT.send(request(url(service, "/events?interval_ms=60000")).build(), BodyHandlers.ofInputStream());
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
        var sleeping = CLIENT.sendAsync(request(url(service, "/sleep?ms=1000")).build(), BodyHandlers.ofString());
        var stats = request(url(service, "/stats")).build();
        while (!CLIENT.send(stats, BodyHandlers.ofString()).body().contains("\"in_flight\":3,")) {
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
        try (var service = start()) {
            var preflight = request(url(service, "/hello")) // C21
                    .method("OPTIONS", BodyPublishers.noBody())
                    .header("Origin", "http://elsewhere")
                    .header("Access-Control-Request-Method", "GET");
            assertEquals(
                    405, CLIENT.send(preflight.build(), BodyHandlers.ofString()).statusCode());
        }
    }

    @Test
    void aMistakeOfOursIsAnInternalError() { // C39
        var mistake = new IllegalStateException("a mistake of ours");
        mistake.setStackTrace(new StackTraceElement[0]); // which would be told
        var answer = new Problems().unexpected(mistake).getBody();
        assertEquals(500, answer.status);
        assertEquals("internal error", answer.detail);
    }

    private static Map<String, String> environment(Map<String, String> own) {
        var environment = new HashMap<>(ENVIRONMENT);
        environment.putAll(own);
        return environment;
    }

    private static ConfigurableApplicationContext start() throws IOException {
        var own = new HashMap<>(Map.of("DB_POOL_SIZE", "3"));
        try (var socket = new ServerSocket(0, 0, InetAddress.getLoopbackAddress())) {
            own.put("PORT", "" + socket.getLocalPort());
        }
        return Main.start(Settings.from(environment(own)));
    }

    private static String url(ConfigurableApplicationContext service, String target) {
        return "http://127.0.0.1:" + service.getEnvironment().getProperty("local.server.port") + target;
    }
}
