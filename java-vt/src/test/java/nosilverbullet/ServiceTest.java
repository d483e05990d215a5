package nosilverbullet;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ConfigurableApplicationContext;

/** The contract from the outside, on both kinds of threads, with the database away and a small upstream. */
class ServiceTest {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final int ALL_ARRIVED = 77; // ms for which the upstream waits until three calls are there
    private static final int BROKEN = 13; // ms for which it answers 500
    private static final int SILENT = 14; // ms for which it does not answer

    private static final Phaser ARRIVED = new Phaser(3);
    private static final CountDownLatch OVER = new CountDownLatch(1);
    private static final AtomicInteger UPSTREAM_NOW = new AtomicInteger();
    private static final AtomicInteger UPSTREAM_PEAK = new AtomicInteger();

    private static final Map<Boolean, Integer> PORTS = new HashMap<>();
    private static final List<ConfigurableApplicationContext> RUNNING = new ArrayList<>();
    private static HttpServer upstream;

    @BeforeAll
    static void start() throws IOException {
        upstream = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        upstream.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        upstream.createContext("/delay", exchange -> {
            UPSTREAM_PEAK.accumulateAndGet(UPSTREAM_NOW.incrementAndGet(), Math::max);
            int ms = Integer.parseInt(exchange.getRequestURI().getQuery().substring("ms=".length()));
            try {
                switch (ms) {
                    case ALL_ARRIVED -> ARRIVED.arriveAndAwaitAdvance();
                    case SILENT -> OVER.await();
                    default -> Thread.sleep(ms);
                }
            } catch (InterruptedException stopped) {
                throw new IOException(stopped);
            }
            UPSTREAM_NOW.decrementAndGet();
            exchange.sendResponseHeaders(ms == BROKEN ? 500 : 200, -1);
            exchange.close();
        });
        upstream.start();
        for (boolean virtual : new boolean[] {true, false}) {
            var settings = Settings.from(environment(Map.of("VIRTUAL_THREADS", "" + virtual)));
            RUNNING.add(Main.start(settings));
            PORTS.put(virtual, settings.port());
        }
    }

    @AfterAll
    static void stop() {
        OVER.countDown();
        RUNNING.forEach(ConfigurableApplicationContext::close);
        upstream.stop(0);
    }

    private static Map<String, String> environment(Map<String, String> own) throws IOException {
        var environment = new HashMap<String, String>();
        environment.put("PORT", "" + freePort());
        environment.put("DATABASE_URL", "mysql://user:secret@127.0.0.1:" + freePort() + "/nsb"); // nobody is there
        environment.put("DB_POOL_SIZE", "3");
        environment.put("DB_ACQUIRE_TIMEOUT_MS", "100");
        environment.put(
                "UPSTREAM_URL", "http://127.0.0.1:" + upstream.getAddress().getPort());
        environment.put("UPSTREAM_TIMEOUT_MS", "2000");
        environment.put("WORKERS", "2");
        environment.put("SERVER_THREADS", "20");
        environment.putAll(own);
        return environment;
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static HttpResponse<String> send(
            boolean virtual, String method, String path, BodyPublisher body, String type)
            throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + PORTS.get(virtual) + path));
        if (!type.isEmpty()) {
            request.header("Content-Type", type);
        }
        return CLIENT.send(request.method(method, body).build(), BodyHandlers.ofString());
    }

    private static HttpResponse<String> send(String method, String path) throws IOException, InterruptedException {
        return send(true, method, path, BodyPublishers.noBody(), "");
    }

    private static String get(boolean virtual, String path) throws IOException, InterruptedException {
        var answer = send(virtual, "GET", path, BodyPublishers.noBody(), "");
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return answer.body();
    }

    private static HttpResponse<String> post(byte[] body, String type) throws IOException, InterruptedException {
        return send(true, "POST", "/books", BodyPublishers.ofByteArray(body), type);
    }

    private static void isProblem(HttpResponse<String> answer, int status, String title, String detail) {
        assertThat(answer.body())
                .isEqualTo("{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%d,\"detail\":\"%s\"}"
                        .formatted(title, status, detail));
        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/problem+json");
        assertThat(answer.headers().firstValueAsLong("Content-Length"))
                .hasValue(answer.body().length());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void healthzIsOkAndReadyzIsNotWithoutItsDatabase(boolean virtual) throws Exception { // C1, C2, C43
        assertThat(get(virtual, "/healthz")).isEqualTo("{\"status\":\"ok\"}");
        isProblem(
                send(virtual, "GET", "/readyz", BodyPublishers.noBody(), ""),
                503,
                "Service Unavailable",
                "the database did not answer");
    }

    @ParameterizedTest
    @CsvSource({"true,virtual threads,null,tomcat-handler-", "false,platform threads,20,http-nio-"})
    void runtimeTellsWhatIsInEffect(boolean virtual, String model, String threads, String name) throws Exception { // C3
        assertThat(get(virtual, "/runtime"))
                .startsWith("{\"runtime\":\"Java\",\"runtime_version\":\"")
                .contains("\"concurrency_model\":\"" + model + "\",\"handled_by\":\"" + name)
                .contains("\"pool_size\":3,\"cancels_on_disconnect\":false,\"settings\":{\"backlog\":")
                .contains("\"keep_alive_s\":75,\"max_connections\":null,\"server_threads\":" + threads)
                .contains("\"db_acquire_timeout_ms\":100,\"db_statements\":\"prepared\",\"upstream_timeout_ms\":2000")
                .contains("\"upstream_max_connections\":null,\"upstream_idle_s\":86400,\"offload\":\"none needed\"");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void statsCountAllButTheServiceEndpoints(boolean virtual) throws Exception { // C4
        long before = requests(virtual);
        get(virtual, "/healthz");
        get(virtual, "/hello");
        send(virtual, "GET", "/nowhere", BodyPublishers.noBody(), "");
        long after = requests(virtual);
        while (after < before + 2) { // an answer may be here before its end is counted
            after = requests(virtual);
        }
        assertThat(after).isEqualTo(before + 2);
        assertThat(get(virtual, "/stats")).endsWith("\"in_flight\":0,\"pool_in_use\":0,\"pool_waiting\":0}");
    }

    private static long requests(boolean virtual) throws IOException, InterruptedException {
        return Long.parseLong(get(virtual, "/stats").split("[:,]")[1]);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void answersWhatNeedsNoDatabase(boolean virtual) throws Exception { // C5, C6, C12, C13
        assertThat(get(virtual, "/hello")).isEqualTo("hello");
        assertThat(get(virtual, "/sleep?ms=5&unknown=x")).isEqualTo("{\"slept_ms\":5}");
        assertThat(get(virtual, "/compute?rounds=1")).isEqualTo("{\"rounds\":1,\"result\":723471715}");
        assertThat(get(virtual, "/compute?rounds=1000")).isEqualTo("{\"rounds\":1000,\"result\":3298996588}");
        assertThat(get(virtual, "/block?ms=5&offload=false")).isEqualTo("{\"blocked_ms\":5,\"offloaded\":false}");
        assertThat(get(virtual, "/block?ms=5&offload=true")).isEqualTo("{\"blocked_ms\":5,\"offloaded\":true}");
    }

    @ParameterizedTest
    @CsvSource({
        "true,synchronized", "true,lock", "true,native",
        "false,synchronized", "false,lock", "false,native"
    })
    void pinWaitsInEachWay(boolean virtual, String how) throws Exception { // C16
        long begun = System.nanoTime();
        assertThat(get(virtual, "/pin?ms=50&how=" + how)).isEqualTo("{\"waited_ms\":50,\"how\":\"" + how + "\"}");
        assertThat(System.nanoTime() - begun).isGreaterThanOrEqualTo(50_000_000);
        assertThat(get(virtual, "/pin?how=" + how + "&ms=0")).startsWith("{\"waited_ms\":0,");
    }

    @Test
    void theJdkTellsWhoWasPinned() throws Exception { // C17
        long before = pinnings();
        get(true, "/pin?ms=1&how=lock");
        assertThat(pinnings()).isEqualTo(before);
        Thread.ofVirtual().start(Sleeper::touch).join();
        assertThat(pinnings()).isGreaterThan(before);
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

    private static long pinnings() throws IOException, InterruptedException {
        return Long.parseLong(get(true, "/pinnings").replaceAll("[^0-9]", ""));
    }

    @Test
    void fanoutIsConcurrentOrSequential() throws Exception { // C11
        for (boolean virtual : new boolean[] {true, false}) {
            UPSTREAM_PEAK.set(0);
            assertThat(get(virtual, "/fanout?calls=3&ms=1&mode=sequential"))
                    .isEqualTo("{\"calls\":3,\"mode\":\"sequential\",\"completed\":3}");
            assertThat(UPSTREAM_PEAK).hasValue(1);
            assertThat(get(virtual, "/fanout?calls=3&ms=" + ALL_ARRIVED + "&mode=concurrent"))
                    .isEqualTo("{\"calls\":3,\"mode\":\"concurrent\",\"completed\":3}");
        }
    }

    @ParameterizedTest
    @CsvSource({"concurrent,13", "sequential,13", "concurrent,14", "sequential,14"})
    void fanoutFailsWithItsUpstream(String mode, int ms) throws Exception { // C37
        isProblem(
                send("GET", "/fanout?calls=3&ms=" + ms + "&mode=" + mode),
                502,
                "Bad Gateway",
                "the upstream did not answer");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void eventsComeUntilTheClientLeaves(boolean virtual) throws Exception { // C14, C4, C40
        long before = requests(virtual);
        var answer = events(PORTS.get(virtual), 10);
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Type")).hasValue("text/event-stream");
        assertThat(answer.headers().firstValue("Cache-Control")).hasValue("no-store");
        assertThat(answer.headers().firstValue("Content-Length")).isEmpty();
        assertThat(answer.body().readNBytes(36)).asString().isEqualTo("""
                data: 0

                data: 1

                data: 2

                data: 3

                """);
        assertThat(stats(PORTS.get(virtual))).contains("{\"requests_total\":" + before + ",", "\"in_flight\":1,");
        answer.body().close();
        awaitInFlight(PORTS.get(virtual), 0);
        assertThat(requests(virtual)).isEqualTo(before + 1);

        var head = send(virtual, "HEAD", "/events?interval_ms=60000", BodyPublishers.noBody(), "");
        assertThat(head.statusCode()).isEqualTo(200);
        assertThat(head.headers().firstValue("Content-Type")).hasValue("text/event-stream");
        awaitInFlight(PORTS.get(virtual), 0);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void messagesComeBack(boolean virtual) throws Exception { // C15, C24, C4
        var client = new Client(PORTS.get(virtual));
        for (var text : List.of("안녕 😀", "", "a".repeat(65_536), "é".repeat(32_768))) {
            client.socket.sendText(text, true).join();
            assertThat(client.next()).isEqualTo(text);
        }
        client.socket.sendText("o", false).join();
        client.socket.sendText("ne", true).join();
        assertThat(client.next()).isEqualTo("one");
        for (int size : new int[] {0, 1, 65_536}) {
            client.socket.sendBinary(ByteBuffer.allocate(size), true).join();
            assertThat(client.next()).isEqualTo(ByteBuffer.allocate(size));
        }
        client.socket.sendPing(ByteBuffer.allocate(1)).join();
        assertThat(client.next()).isEqualTo("pong");
        awaitInFlight(PORTS.get(virtual), 1);
        client.socket.sendClose(WebSocket.NORMAL_CLOSURE, "").join();
        assertThat(client.next()).isEqualTo(1000);
        awaitInFlight(PORTS.get(virtual), 0);

        var leaving = new Client(PORTS.get(virtual));
        awaitInFlight(PORTS.get(virtual), 1);
        leaving.socket.abort();
        awaitInFlight(PORTS.get(virtual), 0);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void messagesThatAreTooLongClose(boolean virtual) throws Exception { // C24
        for (var text : List.of("a".repeat(65_537), "é".repeat(32_769), "a".repeat(1_000_000))) {
            var client = new Client(PORTS.get(virtual));
            client.socket.sendText(text, true);
            assertThat(client.next()).isEqualTo(1009);
        }
        var client = new Client(PORTS.get(virtual));
        client.socket.sendBinary(ByteBuffer.allocate(40_000), false).join();
        client.socket.sendBinary(ByteBuffer.allocate(40_000), true);
        assertThat(client.next()).isEqualTo(1009);
        awaitInFlight(PORTS.get(virtual), 0);
    }

    @Test
    void aSocketNegotiatesNothingAndRefusesWhatIsNotUtf8() throws Exception { // C24
        var handshake = """
                GET /ws HTTP/1.1
                Host: test
                Origin: http://elsewhere
                Upgrade: websocket
                Connection: keep-alive, Upgrade
                Sec-WebSocket-Version: 13
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==
                Sec-WebSocket-Extensions: permessage-deflate
                Sec-WebSocket-Protocol: chat

                """.replace("\n", "\r\n").getBytes(StandardCharsets.US_ASCII);
        byte[] textFf = {(byte) 0x81, (byte) 0x81, 0, 0, 0, 0, (byte) 0xff}; // final, masked by zeros
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), PORTS.get(true))) {
            socket.getOutputStream().write(handshake);
            var head = new StringBuilder();
            while (!head.toString().endsWith("\r\n\r\n")) {
                head.append((char) socket.getInputStream().read());
            }
            assertThat(head.toString())
                    .startsWith("HTTP/1.1 101 ")
                    .contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
                    .doesNotContainIgnoringCase("Sec-WebSocket-Extensions")
                    .doesNotContainIgnoringCase("Sec-WebSocket-Protocol");
            socket.getOutputStream().write(textFf);
            var close = ByteBuffer.wrap(socket.getInputStream().readNBytes(4));
            assertThat(close.get()).isEqualTo((byte) 0x88);
            assertThat(close.getShort(2)).isEqualTo((short) 1007);
        }
        awaitInFlight(PORTS.get(true), 0);
    }

    @Test
    void withoutAnUpgradeThereIsNoSocket() throws Exception { // C24
        var answer = send("GET", "/ws");
        isProblem(answer, 426, "Upgrade Required", "upgrade to a WebSocket");
        assertThat(answer.headers().firstValue("Upgrade")).hasValue("websocket");
        var head = send("HEAD", "/ws");
        assertThat(head.statusCode()).isEqualTo(405);
        assertThat(head.headers().firstValue("Allow")).hasValue("GET");
    }

    private static HttpResponse<InputStream> events(int port, int intervalMs) throws Exception {
        var uri = URI.create("http://127.0.0.1:" + port + "/events?interval_ms=" + intervalMs);
        return CLIENT.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofInputStream());
    }

    private static void awaitInFlight(int port, int wanted) throws Exception {
        while (!stats(port).contains("\"in_flight\":" + wanted + ",")) {
            Thread.sleep(1);
        }
    }

    /** What comes back on a socket: texts, buffers, "pong" and the code of a close. */
    private static final class Client implements WebSocket.Listener {
        private final BlockingQueue<Object> received = new LinkedBlockingQueue<>();
        private final StringBuilder text = new StringBuilder();
        private final ByteArrayOutputStream binary = new ByteArrayOutputStream();
        final WebSocket socket;

        Client(int port) {
            socket = CLIENT.newWebSocketBuilder()
                    .buildAsync(URI.create("ws://127.0.0.1:" + port + "/ws"), this)
                    .join();
        }

        Object next() throws InterruptedException {
            return received.poll(30, TimeUnit.SECONDS);
        }

        @Override
        public CompletionStage<?> onText(WebSocket socket, CharSequence part, boolean last) {
            text.append(part);
            if (last) {
                received.add(text.toString());
                text.setLength(0);
            }
            socket.request(1);
            return null;
        }

        @Override
        public CompletionStage<?> onBinary(WebSocket socket, ByteBuffer part, boolean last) {
            while (part.hasRemaining()) {
                binary.write(part.get());
            }
            if (last) {
                received.add(ByteBuffer.wrap(binary.toByteArray()));
                binary.reset();
            }
            socket.request(1);
            return null;
        }

        @Override
        public CompletionStage<?> onPong(WebSocket socket, ByteBuffer message) {
            received.add("pong");
            socket.request(1);
            return null;
        }

        @Override
        public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
            received.add(code);
            return null;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/hello/", "/HELLO", "/", "/error", "/book", "/books/1/", "/events/", "/ws/"})
    void unknownPathsAreNotFound(String path) throws Exception { // C20, C31
        for (var method : List.of("GET", "POST", "OPTIONS", "PURGE")) {
            isProblem(send(method, path), 404, "Not Found", "nothing is here");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "POST|/hello|GET, HEAD",
                "OPTIONS|/hello|GET, HEAD",
                "POST|/events?interval_ms=x|GET, HEAD",
                "POST|/ws|GET",
                "OPTIONS|/ws|GET",
                "TRACE|/healthz|GET, HEAD",
                "DELETE|/books/1|GET, HEAD",
                "PURGE|/sleep|GET, HEAD",
                "GET|/books|POST",
                "OPTIONS|/books|POST"
            })
    void otherMethodsAreNotAllowed(String method, String path, String allow) throws Exception { // C21, C32
        var answer = send(method, path);
        isProblem(answer, 405, "Method Not Allowed", "the method is not allowed here");
        assertThat(answer.headers().firstValue("Allow")).hasValue(allow);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/hello", "/sleep?ms=1", "/sleep", "/nowhere", "/readyz", "/events"})
    void headIsGetWithoutABody(String path) throws Exception { // C21
        var get = send("GET", path);
        var head = send("HEAD", path);
        assertThat(head.body()).isEmpty();
        assertThat(head.statusCode()).isEqualTo(get.statusCode());
        for (var name : List.of("Content-Type", "Content-Length")) {
            assertThat(head.headers().firstValue(name))
                    .isPresent()
                    .isEqualTo(get.headers().firstValue(name));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/sleep|ms must be given once, as a whole number from 0 to 60000",
                "/sleep?ms=|ms must be given once, as a whole number from 0 to 60000",
                "/sleep?ms=01|ms must be given once, as a whole number from 0 to 60000",
                "/sleep?ms=-1|ms must be given once, as a whole number from 0 to 60000",
                "/sleep?ms=%2B1|ms must be given once, as a whole number from 0 to 60000",
                "/sleep?ms=%D9%A1|ms must be given once, as a whole number from 0 to 60000",
                "/sleep?ms=60001|ms must be given once, as a whole number from 0 to 60000",
                "/sleep?ms=99999999999999999999|ms must be given once, as a whole number from 0 to 60000",
                "/sleep-query?ms=1&ms=1|ms must be given once, as a whole number from 0 to 60000",
                "/slow-query?ms=1&%6Ds=1|ms must be given once, as a whole number from 0 to 60000",
                "/block?offload=x&ms=1001|ms must be given once, as a whole number from 0 to 1000",
                "/block?ms=1&offload=True|offload must be given once, as false or true",
                "/pin?how=x&ms=1001|ms must be given once, as a whole number from 0 to 1000",
                "/pin?ms=1&how=monitor|how must be given once, as synchronized, lock or native",
                "/pin?ms=1&how=lock&how=lock|how must be given once, as synchronized, lock or native",
                "/compute?rounds=0|rounds must be given once, as a whole number from 1 to 10000000",
                "/fanout?mode=x&ms=x&calls=1001|calls must be given once, as a whole number from 1 to 1000",
                "/fanout?calls=1&ms=1&mode=both|mode must be given once, as concurrent or sequential",
                "/events?interval_ms=9|interval_ms must be given once, as a whole number from 10 to 60000",
                "/books/0|id must be a whole number from 1 to 9007199254740991",
                "/books/x|id must be a whole number from 1 to 9007199254740991",
                "/books/9007199254740992|id must be a whole number from 1 to 9007199254740991"
            })
    void wrongParametersAreNamed(String path, String detail) throws Exception { // C22, C35
        isProblem(send("GET", path), 400, "Bad Request", detail);
    }

    @Test
    void bodiesAreJson() throws Exception { // C23, C33, C34, C35
        for (var type : List.of("", "text/json", "application/jsonx", "multipart/form-data; boundary=x")) {
            isProblem(post(new byte[70_000], type), 415, "Unsupported Media Type", "the body must be application/json");
        }
        var tooLarge = "the body must not exceed 65536 bytes";
        isProblem(post(new byte[65_537], "application/json"), 413, "Content Too Large", tooLarge);
        var chunked = BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(new byte[70_000]));
        isProblem(send(true, "POST", "/books", chunked, "application/json"), 413, "Content Too Large", tooLarge);
        for (var text : List.of("", " ", "{", "{\"name\":\"a\"} x", "{\"name\":NaN}", "{'name':'a'}", "\u00ff")) {
            var body = text.getBytes(StandardCharsets.ISO_8859_1); // the last one is no UTF-8
            isProblem(post(body, "application/json"), 400, "Bad Request", "the body must be JSON in UTF-8");
        }
        var utf16 = "{\"name\":\"a\"}".getBytes(StandardCharsets.UTF_16LE);
        isProblem(post(utf16, "application/json"), 400, "Bad Request", "the body must be JSON in UTF-8");
    }

    @Test
    void namesAreShortStrings() throws Exception { // C23, C36
        var wrong = List.of("null", "1", "\"\"", "\"\\ud800\"", "\"" + "é".repeat(256) + "\"", "\"a\",\"name\":1");
        for (var name : wrong) {
            var body = "{\"name\":%s}".formatted(name).getBytes(StandardCharsets.UTF_8);
            isProblem(
                    post(body, "application/json"),
                    422,
                    "Unprocessable Content",
                    "name must be a string of 1 to 255 characters");
        }
        for (var json : List.of("[]", "\"name\"", "{}", "{\"Name\":\"a\"}")) {
            assertThat(post(json.getBytes(StandardCharsets.UTF_8), "application/json")
                            .statusCode())
                    .isEqualTo(422);
        }
    }

    @Test
    void everythingRightNeedsTheDatabase() throws Exception { // C38: whatever comes before the statement was accepted
        var long255 = "{\"x\":" + "1".repeat(2000) + ",\"name\":1,\"name\":\"" + "😀".repeat(255) + "\"}";
        var answers = List.of(
                post(long255.getBytes(StandardCharsets.UTF_8), "Application/JSON; charset=\"nonsense\""),
                send("GET", "/books/9007199254740991"),
                send("GET", "/sleep-query?ms=1"),
                send("GET", "/slow-query?ms=1"));
        for (var answer : answers) {
            isProblem(answer, 503, "Service Unavailable", "the database did not answer");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "PORT|abc|PORT=\"abc\" is not a whole number from 1 to 65535",
                "SERVER_THREADS|0|SERVER_THREADS=\"0\" is not a whole number from 1 to 100000",
                "DB_POOL_SIZE|1|DB_POOL_SIZE=\"1\" is not a whole number from 2 to 10000",
                "VIRTUAL_THREADS|yes|VIRTUAL_THREADS=\"yes\" is not true or false",
                "DB_STATEMENTS|none|DB_STATEMENTS=\"none\" is not prepared or text",
                "UPSTREAM_URL|http://a:1/|UPSTREAM_URL=\"http://a:1/\" is not http://host:port",
                "DATABASE_URL|mysql://u:secret@h:0/d"
                        + "|DATABASE_URL=\"***@h:0/d\" is not mysql://user:password@host:port/database, percent-encoded"
            })
    void aWrongSettingEndsTheStart(String name, String value, String sentence) throws Exception { // C42
        var process = run(Map.of(name, value));
        assertThat(new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8))
                .isEqualTo(sentence + System.lineSeparator());
        assertThat(process.waitFor()).isEqualTo(2);
    }

    @Test
    void aSignalLetsRequestsFinish() throws Exception { // C41
        int port = freePort();
        var process = run(Map.of("PORT", "" + port));
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/sleep?ms=1000"))
                .build();
        while (true) { // until it listens
            try {
                CLIENT.send(
                        HttpRequest.newBuilder(request.uri().resolve("/healthz"))
                                .build(),
                        BodyHandlers.discarding());
                break;
            } catch (IOException notYet) {
                assertThat(process.isAlive()).isTrue();
                Thread.sleep(20);
            }
        }
        var stream = events(port, 60_000);
        var client = new Client(port);
        var sleeping = CLIENT.sendAsync(request, BodyHandlers.ofString());
        awaitInFlight(port, 3);
        process.destroy();
        assertThat(stream.body().readAllBytes()).asString().isEqualTo("data: 0\n\n"); // and a regular end
        assertThat(client.next()).isEqualTo(1001);
        assertThat(sleeping.get().body()).isEqualTo("{\"slept_ms\":1000}");
        assertThat(process.waitFor(8, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(143);
    }

    private static String stats(int port) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/stats"));
        return CLIENT.send(request.build(), BodyHandlers.ofString()).body();
    }

    private static Process run(Map<String, String> own) throws IOException {
        var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        var builder = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), "nosilverbullet.Main");
        builder.environment().putAll(environment(own));
        return builder.start();
    }
}
