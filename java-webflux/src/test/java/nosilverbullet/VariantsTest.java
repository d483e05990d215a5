package nosilverbullet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the service's own settings change, and what they must not: its database is away, its upstream answers at once. */
class VariantsTest {

    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static HttpServer upstream;

    @BeforeAll
    static void start() throws IOException {
        upstream = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        upstream.createContext("/delay", exchange -> {
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        upstream.start();
    }

    @AfterAll
    static void stop() {
        upstream.stop(0);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "jdbc|event loops, JDBC on them",
                "jdbc-offloaded|event loops, JDBC on boundedElastic",
                "jdbc-hop|event loops, JDBC on them before a hop to boundedElastic"
            })
    void jdbcTakesThePlaceOfR2dbc(String client, String model) throws Exception {
        int port = freePort();
        try (var service = Main.start(Settings.from(environment(port, Map.of("DB_CLIENT", client))))) {
            assertTrue(service.isRunning());
            var runtime = get(port, "/runtime").body();
            assertTrue(runtime.contains("\"driver\":\"MySQL Connector/J\""), runtime);
            assertTrue(runtime.contains("\"concurrency_model\":\"" + model + "\""), runtime);
            assertTrue(runtime.contains("\"pool_size\":3,"), runtime);
            assertTrue(runtime.contains("\"db_statements\":\"prepared\""), runtime);
            for (var path : List.of("/readyz", "/books/1", "/slow-query?ms=1", "/sleep-query?ms=1")) {
                var answer = get(port, path);
                assertEquals(503, answer.statusCode(), path);
                assertTrue(answer.body().contains("\"the database did not answer\""), answer.body());
            }
            assertTrue(get(port, "/stats").body().endsWith("\"pool_in_use\":0,\"pool_waiting\":0}"));
        }
    }

    @Test
    void answersOfTheUpstreamMayBeHandedOver() throws Exception {
        int port = freePort();
        try (var service = Main.start(Settings.from(environment(port, Map.of("UPSTREAM_HANDOVER", "true"))))) {
            assertTrue(service.isRunning());
            var runtime = get(port, "/runtime").body();
            assertTrue(runtime.contains("\"event loops, answers of the upstream on boundedElastic\""), runtime);
            for (var mode : List.of("concurrent", "sequential")) {
                var answer = get(port, "/fanout?calls=20&ms=1&mode=" + mode);
                assertEquals("{\"calls\":20,\"mode\":\"" + mode + "\",\"completed\":20}", answer.body());
            }
            assertTrue(Thread.getAllStackTraces().keySet().stream()
                    .anyMatch(thread -> thread.getName().startsWith("boundedElastic-")));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "DB_CLIENT|jpa|DB_CLIENT=\"jpa\" is not r2dbc, jdbc, jdbc-offloaded or jdbc-hop",
                "UPSTREAM_HANDOVER|yes|UPSTREAM_HANDOVER=\"yes\" is not false or true"
            })
    void wrongSettingsAreNamed(String variable, String value, String sentence) {
        var wrong = assertThrows(
                Settings.Wrong.class, () -> Settings.from(environment(8080, Map.of(variable, value)))); // C42
        assertEquals(sentence, wrong.getMessage());
    }

    private static Map<String, String> environment(int port, Map<String, String> own) {
        var environment = new HashMap<>(Map.of(
                "PORT", "" + port,
                "DATABASE_URL", "mysql://user:password@127.0.0.1:1/nsb", // refuses: the database is away
                "DB_POOL_SIZE", "3",
                "DB_ACQUIRE_TIMEOUT_MS", "100",
                "UPSTREAM_URL", "http://127.0.0.1:" + upstream.getAddress().getPort(),
                "WORKERS", "2"));
        environment.putAll(own);
        return environment;
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 0, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static HttpResponse<String> get(int port, String path) throws Exception {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .timeout(PATIENCE)
                .build();
        return CLIENT.send(request, BodyHandlers.ofString());
    }
}
