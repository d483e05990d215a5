package nosilverbullet;

import static java.net.http.HttpRequest.BodyPublishers.ofByteArray;
import static java.net.http.HttpRequest.BodyPublishers.ofInputStream;
import static java.net.http.HttpResponse.BodyHandlers.ofString;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ConfigurableApplicationContext;

/** Through the outside: the service runs, its database is away, its upstream is a stub. */
class MainTest {

    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final String MS_DETAIL = "ms must be given once, as a whole number from 0 to 60000";
    private static final String CALLS_DETAIL = "calls must be given once, as a whole number from 1 to 1000";

    private static final AtomicInteger UPSTREAM_CALLS = new AtomicInteger();
    private static HttpServer upstream;
    private static ConfigurableApplicationContext service;
    private static int port;

    @BeforeAll
    static void start() throws IOException {
        upstream = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        upstream.createContext("/delay", exchange -> {
            UPSTREAM_CALLS.incrementAndGet();
            var broken = "ms=500".equals(exchange.getRequestURI().getQuery());
            exchange.sendResponseHeaders(broken ? 500 : 200, -1);
            exchange.close();
        });
        upstream.setExecutor(Executors.newCachedThreadPool());
        upstream.start();
        port = freePort();
        service = Main.start(Settings.from(environment(Map.of(
                "PORT",
                Integer.toString(port),
                "WORKERS",
                "2",
                "UPSTREAM_URL",
                "http://127.0.0.1:" + upstream.getAddress().getPort()))));
    }

    @AfterAll
    static void stop() {
        service.close();
        upstream.stop(0);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "/healthz, `{\"status\":\"ok\"}`",
                "/hello, hello",
                "/sleep?ms=0, `{\"slept_ms\":0}`",
                "/sleep?ms=20&other=1, `{\"slept_ms\":20}`",
                "/fanout?calls=3&ms=1&mode=concurrent, `{\"calls\":3,\"mode\":\"concurrent\",\"completed\":3}`",
                "/fanout?calls=3&ms=1&mode=sequential, `{\"calls\":3,\"mode\":\"sequential\",\"completed\":3}`",
                "/compute?rounds=1, `{\"rounds\":1,\"result\":723471715}`",
                "/compute?rounds=1000, `{\"rounds\":1000,\"result\":3298996588}`",
                "/block?ms=1&offload=false, `{\"blocked_ms\":1,\"offloaded\":false}`",
                "/block?ms=1&offload=true, `{\"blocked_ms\":1,\"offloaded\":true}`",
            })
    void answers(String path, String body) throws Exception {
        var answer = get(path);
        assertEquals(200, answer.statusCode());
        assertEquals(body, answer.body());
        assertTrue(
                header(answer, "Content-Type").startsWith("/hello".equals(path) ? "text/plain" : "application/json"));
        assertEquals(Integer.toString(body.length()), header(answer, "Content-Length"));

        var head = send("HEAD", path, null, null);
        assertEquals(200, head.statusCode());
        assertEquals("", head.body());
        assertEquals(header(answer, "Content-Type"), header(head, "Content-Type"));
        assertEquals(header(answer, "Content-Length"), header(head, "Content-Length"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/hello/",
                "/HELLO",
                "/nothing",
                "/books/",
                "/books/1/",
                "/error",
                "/favicon.ico",
                "/events/",
                "/ws/"
            })
    void unknownPathsAreNotFound(String path) throws Exception {
        assertProblem(get(path), 404, "Not Found", "nothing is here");
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "POST, /hello, `GET, HEAD`",
                "OPTIONS, /hello, `GET, HEAD`",
                "DELETE, /books/1, `GET, HEAD`",
                "BREW, /stats, `GET, HEAD`",
                "POST, /events?interval_ms=x, `GET, HEAD`",
                "POST, /ws, GET",
                "OPTIONS, /ws, GET",
                "GET, /books, POST",
                "OPTIONS, /books, POST",
            })
    void otherMethodsAreNotAllowed(String method, String path, String allow) throws Exception {
        var answer = send(method, path, null, null);
        assertProblem(answer, 405, "Method Not Allowed", "the method is not allowed here");
        assertEquals(allow, header(answer, "Allow"));
    }

    @Test
    void preflightsAreOptionsLikeAnyOther() throws Exception {
        try (var socket = new Socket("127.0.0.1", port)) {
            var request = "OPTIONS /hello HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\n"
                    + "Access-Control-Request-Method: GET\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(US_ASCII));
            var answer = new String(socket.getInputStream().readAllBytes(), US_ASCII);
            assertTrue(answer.startsWith("HTTP/1.1 405 "), answer);
        }
    }

    /** Reactor Netty 1.3.6 read nothing any more after a request that waited for another and was answered at once. */
    @Test
    void aConnectionGoesOnAfterARequestThatWaited() throws Exception {
        try (var socket = new Socket("127.0.0.1", port)) {
            socket.setSoTimeout((int) PATIENCE.toMillis());
            var hello = "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n";
            socket.getOutputStream().write(("GET /sleep?ms=50 HTTP/1.1\r\nHost: x\r\n\r\n" + hello).getBytes(US_ASCII));
            readUntil(socket, "hello");
            socket.getOutputStream().write(hello.getBytes(US_ASCII));
            readUntil(socket, "hello");
        }
    }

    private static void readUntil(Socket socket, String end) throws IOException {
        var read = new StringBuilder();
        while (!read.toString().endsWith(end)) {
            int next = socket.getInputStream().read();
            assertNotEquals(-1, next, read.toString());
            read.append((char) next);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "?ms", "?ms=", "?ms=-1", "?ms=01", "?ms=+1", "?ms=1.0", "?ms=60001", "?ms=1&ms=1", "?MS=1"})
    void parametersAreGivenOnceAndWithinBounds(String query) throws Exception {
        assertProblem(get("/sleep" + query), 400, "Bad Request", MS_DETAIL);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "/fanout, `" + CALLS_DETAIL + "`",
                "/fanout?calls=0&ms=x&mode=x, `" + CALLS_DETAIL + "`",
                "/fanout?calls=1&ms=x&mode=x, `" + MS_DETAIL + "`",
                "/fanout?calls=1&ms=1&mode=x, `mode must be given once, as concurrent or sequential`",
                "/compute?rounds=10000001, `rounds must be given once, as a whole number from 1 to 10000000`",
                "/block?ms=1001&offload=x, `ms must be given once, as a whole number from 0 to 1000`",
                "/block?ms=1&offload=TRUE, `offload must be given once, as false or true`",
                "/events?interval_ms=9, `interval_ms must be given once, as a whole number from 10 to 60000`",
                "/books/0, `id must be a whole number from 1 to 9007199254740991`",
                "/books/9007199254740992, `id must be a whole number from 1 to 9007199254740991`",
            })
    void theFirstMistakeIsNamed(String path, String detail) throws Exception {
        assertProblem(get(path), 400, "Bad Request", detail);
    }

    @Test
    void bodiesAreJson() throws Exception {
        var unsupported = "the body must be application/json";
        assertProblem(post(null, "{}"), 415, "Unsupported Media Type", unsupported);
        assertProblem(post("text/plain", " ".repeat(70_000)), 415, "Unsupported Media Type", unsupported);
        var json = "Application/JSON; charset";
        for (var malformed : List.of("", "{", "{\"name\":NaN}", "{\"name\":\"a\"} {}", "{'name':1}")) {
            assertProblem(post(json, malformed), 400, "Bad Request", "the body must be JSON in UTF-8");
        }
        var latin = ofByteArray("{\"name\":\"é\"}".getBytes(StandardCharsets.ISO_8859_1));
        assertProblem(send("POST", "/books", json, latin), 400, "Bad Request", "the body must be JSON in UTF-8");
    }

    @Test
    void bodiesAreLimited() throws Exception {
        var fits = ("{\"name\":\"a\",\"long\":" + "1".repeat(Books.MAX_BODY_BYTES - 20) + "}")
                .getBytes(StandardCharsets.UTF_8);
        assertEquals(Books.MAX_BODY_BYTES, fits.length);
        assertDatabaseAway(send("POST", "/books", "application/json", ofByteArray(fits)));
        var over = new byte[Books.MAX_BODY_BYTES + 1];
        var detail = "the body must not exceed 65536 bytes";
        assertProblem(send("POST", "/books", "application/json", ofByteArray(over)), 413, "Content Too Large", detail);
        var chunked = ofInputStream(() -> new ByteArrayInputStream(over));
        assertProblem(send("POST", "/books", "application/json", chunked), 413, "Content Too Large", detail);
    }

    @Test
    void namesAreChecked() throws Exception {
        for (var wrong : List.of(
                "[]",
                "1",
                "{}",
                "{\"Name\":\"a\"}",
                "{\"name\":1}",
                "{\"name\":null}",
                "{\"name\":\"\"}",
                "{\"name\":\"\\ud800\"}",
                "{\"name\":\"a\",\"name\":1}",
                "{\"name\":\"" + "é".repeat(256) + "\"}")) {
            assertProblem(
                    post("application/json", wrong),
                    422,
                    "Unprocessable Content",
                    "name must be a string of 1 to 255 characters");
        }
        assertDatabaseAway(post("application/json", "{\"name\":1,\"name\":\"" + "😀".repeat(255) + "\"}"));
    }

    @Test
    void anUpstreamThatFailsIsABadGateway() throws Exception {
        for (var mode : List.of("concurrent", "sequential")) {
            var before = UPSTREAM_CALLS.get();
            var answer = get("/fanout?calls=1&ms=500&mode=" + mode);
            assertProblem(answer, 502, "Bad Gateway", "the upstream did not answer");
            assertEquals(before + 1, UPSTREAM_CALLS.get(), "C63: no retry");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/readyz", "/sleep-query?ms=1", "/slow-query?ms=1", "/books/1"})
    void withoutItsDatabaseItIsUnavailable(String path) throws Exception {
        assertDatabaseAway(get(path));
    }

    @Test
    void whatIsRunningIsTold() throws Exception {
        var body = get("/runtime").body();
        assertTrue(body.startsWith("{\"runtime\":\"Java\",\"runtime_version\":\""), body);
        assertTrue(
                body.contains("\"workers\":2,\"pool_size\":150,\"cancels_on_disconnect\":true,\"settings\":{"), body);
        assertTrue(body.contains("\"handled_by\":\"reactor-http-"), body);
        assertTrue(body.contains("\"driver_version\":\"1."), body);
    }

    @Test
    void requestsAreCounted() throws Exception {
        var before = requestsTotal();
        get("/hello");
        get("/nothing");
        get("/healthz");
        get("/sleep");
        assertEquals(before + 3, requestsTotal());
        assertTrue(get("/stats").body().endsWith("\"in_flight\":0,\"pool_in_use\":0,\"pool_waiting\":0}"));
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "PORT, abc, `PORT=\"abc\" is not a whole number from 1 to 65535`",
                "PORT, 080, `PORT=\"080\" is not a whole number from 1 to 65535`",
                "DB_POOL_SIZE, 1, `DB_POOL_SIZE=\"1\" is not a whole number from 2 to 10000`",
                "SERVER_THREADS, 0, `SERVER_THREADS=\"0\" is not a whole number from 1 to 100000`",
                "DATABASE_URL, ``, `DATABASE_URL must be set`",
                "DATABASE_URL, mysql://u:secret@h:x/d, `DATABASE_URL=\"mysql://***@h:x/d\" is not mysql://user:password@host:port/database`",
                "UPSTREAM_URL, http://h:1/path, `UPSTREAM_URL=\"http://h:1/path\" is not http://host:port`",
            })
    void wrongSettingsEndTheStart(String variable, String value, String sentence) throws Exception {
        var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        var process = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), Main.class.getName());
        process.environment().putAll(environment(Map.of("WORKERS", "2", variable, value)));
        process.redirectErrorStream(true);
        var running = process.start();
        var output = new String(running.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(2, running.waitFor());
        assertEquals(sentence, output.strip());
    }

    @Test
    void databaseUrlsAreDecodedAndHidden() {
        var url = Settings.DatabaseUrl.from("mysql://a%40b:p%2F+%C3%A9@db/books");
        assertEquals(new Settings.DatabaseUrl("db", 3306, "a@b", "p/+é", "books"), url);
        assertFalse(url.toString().contains("p/+é"));
    }

    private static Map<String, String> environment(Map<String, String> changes) {
        // Port 1 refuses: the database is away.
        var environment = new HashMap<>(Map.of("DATABASE_URL", "mysql://user:password@127.0.0.1:1/nsb"));
        environment.putAll(changes);
        return environment;
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 0, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static HttpResponse<String> get(String path) throws Exception {
        return send("GET", path, null, null);
    }

    private static HttpResponse<String> post(String contentType, String body) throws Exception {
        return send("POST", "/books", contentType, ofByteArray(body.getBytes(StandardCharsets.UTF_8)));
    }

    private static HttpResponse<String> send(
            String method, String path, String contentType, HttpRequest.BodyPublisher body) throws Exception {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .timeout(PATIENCE)
                .method(method, body == null ? HttpRequest.BodyPublishers.noBody() : body);
        if (contentType != null) {
            request.header("Content-Type", contentType);
        }
        return CLIENT.send(request.build(), ofString());
    }

    private static String header(HttpResponse<String> answer, String name) {
        return answer.headers().firstValue(name).orElse("");
    }

    private static long requestsTotal() throws Exception {
        return Long.parseLong(get("/stats").body().replaceFirst("\\{\"requests_total\":([0-9]+),.*", "$1"));
    }

    private static void assertDatabaseAway(HttpResponse<String> answer) {
        assertProblem(answer, 503, "Service Unavailable", "the database did not answer");
    }

    private static void assertProblem(HttpResponse<String> answer, int status, String title, String detail) {
        var body = "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%d,\"detail\":\"%s\"}"
                .formatted(title, status, detail);
        assertEquals(body, answer.body());
        assertEquals(status, answer.statusCode());
        assertEquals("application/problem+json", header(answer, "Content-Type"));
        assertEquals(Integer.toString(body.length()), header(answer, "Content-Length"));
    }
}
