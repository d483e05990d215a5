package nosilverbullet;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.websocket.ClientEndpointConfig;
import javax.websocket.CloseReason;
import javax.websocket.ContainerProvider;
import javax.websocket.DeploymentException;
import javax.websocket.Endpoint;
import javax.websocket.EndpointConfig;
import javax.websocket.PongMessage;
import javax.websocket.RemoteEndpoint;
import javax.websocket.Session;
import javax.websocket.WebSocketContainer;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.classic.methods.HttpUriRequestBase;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.HttpEntity;
import org.apache.hc.core5.http.ParseException;
import org.apache.hc.core5.http.io.entity.ByteArrayEntity;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.apache.hc.core5.http.io.entity.InputStreamEntity;
import org.apache.hc.core5.util.Timeout;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.http.MediaType;
import org.springframework.mock.http.MockHttpOutputMessage;
import org.springframework.util.StreamUtils;

/** The contract from the outside, with the database away and a small upstream. */
class ServiceTest {
    private static final int ALL_ARRIVED = 77; // ms for which the upstream waits until three calls are there
    private static final int COUNTED = 1; // ms of the calls whose number at once is counted
    private static final int BROKEN = 13; // ms for which it answers 500
    private static final int SILENT = 14; // ms for which it does not answer

    /** Every request has an end; answers come as they were sent. */
    private static final Timeout LIMIT = Timeout.ofSeconds(20);

    private static final CloseableHttpClient CLIENT = HttpClients.custom()
            .setConnectionManager(PoolingHttpClientConnectionManagerBuilder.create()
                    .setDefaultConnectionConfig(
                            ConnectionConfig.custom().setConnectTimeout(LIMIT).build())
                    .build())
            .setDefaultRequestConfig(
                    RequestConfig.custom().setResponseTimeout(LIMIT).build())
            .disableAutomaticRetries()
            .disableRedirectHandling()
            .disableContentCompression()
            .build();

    private static final ExecutorService BESIDE = Executors.newCachedThreadPool();
    private static final Phaser ARRIVED = new Phaser(3);
    private static final CountDownLatch OVER = new CountDownLatch(1);
    private static final AtomicInteger COUNTED_NOW = new AtomicInteger();
    private static final AtomicInteger COUNTED_PEAK = new AtomicInteger();

    private static HttpServer upstream;
    private static ConfigurableApplicationContext running;
    private static int port;

    private static final class Answer {
        final int status;
        final String body;
        private final Header[] headers;

        Answer(ClassicHttpResponse response) throws IOException, ParseException {
            HttpEntity entity = response.getEntity();
            this.status = response.getCode();
            this.body = entity == null ? "" : EntityUtils.toString(entity, StandardCharsets.UTF_8);
            this.headers = response.getHeaders();
        }

        String header(String name) {
            return Arrays.stream(headers)
                    .filter(header -> header.getName().equalsIgnoreCase(name))
                    .map(Header::getValue)
                    .findFirst()
                    .orElse(null);
        }
    }

    @BeforeAll
    static void start() throws IOException {
        upstream = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        upstream.setExecutor(BESIDE);
        upstream.createContext("/delay", exchange -> {
            int ms = Integer.parseInt(exchange.getRequestURI().getQuery().substring("ms=".length()));
            try {
                if (ms == ALL_ARRIVED) {
                    ARRIVED.arriveAndAwaitAdvance();
                } else if (ms == SILENT) {
                    OVER.await();
                } else if (ms == COUNTED) {
                    COUNTED_PEAK.accumulateAndGet(COUNTED_NOW.incrementAndGet(), Math::max);
                    Thread.sleep(ms);
                    COUNTED_NOW.decrementAndGet();
                }
            } catch (InterruptedException stopped) {
                throw new IOException(stopped);
            }
            exchange.getRequestBody().close(); // JDK 8 closes the connection of an exchange whose body nobody asked for
            exchange.sendResponseHeaders(ms == BROKEN ? 500 : 200, -1);
            exchange.close();
        });
        upstream.start();
        Settings settings = Settings.from(environment(Collections.emptyMap()));
        running = Main.start(settings);
        port = settings.port;
    }

    @AfterAll
    static void stop() throws IOException {
        OVER.countDown();
        running.close();
        upstream.stop(0);
        BESIDE.shutdownNow();
        CLIENT.close();
    }

    private static Map<String, String> environment(Map<String, String> own) throws IOException {
        Map<String, String> environment = new HashMap<>();
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
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static Answer send(int port, String method, String path, HttpEntity body, String type) throws IOException {
        HttpUriRequestBase request = new HttpUriRequestBase(method, URI.create("http://127.0.0.1:" + port + path));
        request.setEntity(body);
        if (!type.isEmpty()) {
            request.setHeader("Content-Type", type);
        }
        return CLIENT.execute(request, Answer::new);
    }

    private static Answer send(String method, String path) throws IOException {
        return send(port, method, path, null, "");
    }

    private static String get(String path) throws IOException {
        return get(port, path);
    }

    private static String get(int port, String path) throws IOException {
        Answer answer = send(port, "GET", path, null, "");
        assertThat(answer.status).as(answer.body).isEqualTo(200);
        return answer.body;
    }

    private static Answer post(byte[] body, String type) throws IOException {
        return send(port, "POST", "/books", new ByteArrayEntity(body, null), type);
    }

    private static void isProblem(Answer answer, int status, String title, String detail) {
        assertThat(answer.body)
                .isEqualTo(String.format(
                        "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%d,\"detail\":\"%s\"}",
                        title, status, detail));
        assertThat(answer.status).isEqualTo(status);
        assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
        assertThat(answer.header("Content-Length")).isEqualTo("" + answer.body.length());
    }

    @Test
    void healthzIsOkAndReadyzIsNotWithoutItsDatabase() throws Exception { // C1, C2, C43
        assertThat(get("/healthz")).isEqualTo("{\"status\":\"ok\"}");
        isProblem(send("GET", "/readyz"), 503, "Service Unavailable", "the database did not answer");
    }

    @Test
    void runtimeTellsWhatIsInEffect() throws Exception { // C3
        assertThat(get("/runtime"))
                .startsWith("{\"runtime\":\"Java\",\"runtime_version\":\"")
                .contains("\"concurrency_model\":\"platform threads\",\"handled_by\":\"http-nio-")
                .contains("\"pool_size\":3,\"cancels_on_disconnect\":false,\"settings\":{\"backlog\":")
                .contains("\"keep_alive_s\":75,\"max_connections\":null,\"server_threads\":20")
                .contains("\"db_acquire_timeout_ms\":100,\"db_statements\":\"prepared\",\"upstream_timeout_ms\":2000")
                .contains("\"upstream_max_connections\":null,\"upstream_idle_s\":86400,\"offload\":\"none needed\"");
    }

    @Test
    void statsCountAllButTheServiceEndpoints() throws Exception { // C4
        long before = requests();
        get("/healthz");
        get("/hello");
        send("GET", "/nowhere");
        long after = requests();
        while (after < before + 2) { // an answer may be here before its end is counted
            after = requests();
        }
        assertThat(after).isEqualTo(before + 2);
        assertThat(get("/stats")).endsWith("\"in_flight\":0,\"pool_in_use\":0,\"pool_waiting\":0}");
    }

    private static long requests() throws IOException {
        return Long.parseLong(get("/stats").split("[:,]")[1]);
    }

    @Test
    void answersWhatNeedsNoDatabase() throws Exception { // C5, C6, C12, C13
        assertThat(get("/hello")).isEqualTo("hello");
        assertThat(get("/sleep?ms=5&unknown=x")).isEqualTo("{\"slept_ms\":5}");
        assertThat(get("/compute?rounds=1")).isEqualTo("{\"rounds\":1,\"result\":723471715}");
        assertThat(get("/compute?rounds=1000")).isEqualTo("{\"rounds\":1000,\"result\":3298996588}");
        assertThat(get("/block?ms=5&offload=false")).isEqualTo("{\"blocked_ms\":5,\"offloaded\":false}");
        assertThat(get("/block?ms=5&offload=true")).isEqualTo("{\"blocked_ms\":5,\"offloaded\":true}");
    }

    @Test
    void fanoutIsConcurrentOrSequential() throws Exception { // C11
        assertThat(get("/fanout?calls=3&ms=" + COUNTED + "&mode=sequential"))
                .isEqualTo("{\"calls\":3,\"mode\":\"sequential\",\"completed\":3}");
        assertThat(COUNTED_PEAK).hasValue(1);
        assertThat(get("/fanout?calls=3&ms=" + ALL_ARRIVED + "&mode=concurrent"))
                .isEqualTo("{\"calls\":3,\"mode\":\"concurrent\",\"completed\":3}");
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

    @Test
    void eventsComeUntilTheClientLeaves() throws Exception { // C14, C4, C40
        long before = requests();
        HttpGet request = events(port, 10);
        ClassicHttpResponse answer = open(request);
        assertThat(answer.getCode()).isEqualTo(200);
        assertThat(answer.getFirstHeader("Content-Type").getValue()).isEqualTo("text/event-stream");
        assertThat(answer.getFirstHeader("Cache-Control").getValue()).isEqualTo("no-store");
        assertThat(answer.getFirstHeader("Content-Length")).isNull();
        byte[] begin = new byte[36];
        new DataInputStream(answer.getEntity().getContent()).readFully(begin);
        assertThat(new String(begin, StandardCharsets.US_ASCII))
                .isEqualTo("data: 0\n\ndata: 1\n\ndata: 2\n\ndata: 3\n\n");
        assertThat(get("/stats")).contains("{\"requests_total\":" + before + ",", "\"in_flight\":1,");
        request.cancel(); // to close the answer would be to read it to its end
        awaitInFlight(port, 0);
        assertThat(requests()).isEqualTo(before + 1);

        Answer head = send("HEAD", "/events?interval_ms=60000");
        assertThat(head.status).isEqualTo(200);
        assertThat(head.header("Content-Type")).isEqualTo("text/event-stream");
        assertThat(head.header("Content-Length")).isNull();
        awaitInFlight(port, 0);
    }

    @Test
    void messagesComeBack() throws Exception { // C15, C24, C4
        Client client = new Client(port);
        String severalParts = "a" + times(16_383, "😀"); // no part of it may end within a character
        for (String text : Arrays.asList("안녕 😀", "", times(65_536, "a"), times(32_768, "é"), severalParts)) {
            client.remote.sendText(text);
            assertThat(client.next()).isEqualTo(text);
        }
        client.remote.sendText("o", false);
        client.remote.sendText("ne", true);
        assertThat(client.next()).isEqualTo("one");
        for (int size : new int[] {0, 1, 65_536}) {
            client.remote.sendBinary(ByteBuffer.allocate(size));
            assertThat(client.next()).isEqualTo(ByteBuffer.allocate(size));
        }
        client.remote.sendPing(ByteBuffer.allocate(1));
        assertThat(client.next()).isEqualTo("pong");
        awaitInFlight(port, 1);
        client.session.close();
        awaitInFlight(port, 0);

        Socket leaving = upgraded("");
        awaitInFlight(port, 1);
        leaving.close();
        awaitInFlight(port, 0);
    }

    @Test
    void messagesThatAreTooLongClose() throws Exception { // C24
        for (String text : Arrays.asList(times(65_537, "a"), times(32_769, "é"), times(1_000_000, "a"))) {
            Client client = new Client(port);
            client.sendUntilClosed(remote -> remote.sendText(text));
            assertThat(client.next()).isEqualTo(1009);
        }
        Client client = new Client(port);
        client.remote.sendBinary(ByteBuffer.allocate(40_000), false);
        client.sendUntilClosed(remote -> remote.sendBinary(ByteBuffer.allocate(40_000), true));
        assertThat(client.next()).isEqualTo(1009);
        awaitInFlight(port, 0);
    }

    @Test
    void aSocketNegotiatesNothingAndRefusesWhatIsNotUtf8() throws Exception { // C24
        byte[] textFf = {(byte) 0x81, (byte) 0x81, 0, 0, 0, 0, (byte) 0xff}; // final, masked by zeros
        try (Socket socket =
                upgraded("Sec-WebSocket-Extensions: permessage-deflate\r\n" + "Sec-WebSocket-Protocol: chat\r\n")) {
            socket.getOutputStream().write(textFf);
            byte[] close = new byte[4];
            new DataInputStream(socket.getInputStream()).readFully(close);
            assertThat(close[0]).isEqualTo((byte) 0x88);
            assertThat(ByteBuffer.wrap(close).getShort(2)).isEqualTo((short) 1007);
        }
        awaitInFlight(port, 0);
    }

    @Test
    void withoutAnUpgradeThereIsNoSocket() throws Exception { // C24
        Answer answer = send("GET", "/ws");
        isProblem(answer, 426, "Upgrade Required", "upgrade to a WebSocket");
        assertThat(answer.header("Upgrade")).isEqualTo("websocket");
        Answer head = send("HEAD", "/ws");
        assertThat(head.status).isEqualTo(405);
        assertThat(head.header("Allow")).isEqualTo("GET");
    }

    private static HttpGet events(int port, int intervalMs) {
        return new HttpGet("http://127.0.0.1:" + port + "/events?interval_ms=" + intervalMs);
    }

    private static ClassicHttpResponse open(HttpGet request) throws IOException {
        return CLIENT.executeOpen(null, request, null);
    }

    private static void awaitInFlight(int port, int wanted) throws Exception {
        while (!get(port, "/stats").contains("\"in_flight\":" + wanted + ",")) {
            Thread.sleep(1);
        }
    }

    /** A bare connection after a handshake that offered more than it got. */
    private static Socket upgraded(String offers) throws IOException {
        String handshake = "GET /ws HTTP/1.1\r\nHost: test\r\nOrigin: http://elsewhere\r\nUpgrade: websocket\r\n"
                + "Connection: keep-alive, Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" + offers + "\r\n";
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout((int) LIMIT.toMilliseconds());
        socket.getOutputStream().write(handshake.getBytes(StandardCharsets.US_ASCII));
        StringBuilder head = new StringBuilder();
        while (!head.toString().endsWith("\r\n\r\n")) {
            head.append((char) socket.getInputStream().read());
        }
        assertThat(head.toString())
                .startsWith("HTTP/1.1 101 ")
                .contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
                .doesNotContainIgnoringCase("Sec-WebSocket-Extensions")
                .doesNotContainIgnoringCase("Sec-WebSocket-Protocol");
        return socket;
    }

    /** What comes back on a socket: texts, buffers, "pong" and the code of a close. */
    private static final class Client extends Endpoint {
        interface Sending {
            void to(RemoteEndpoint.Basic remote) throws IOException;
        }

        /** More than the service may send back: a 1009 must be its own, not this client's. */
        private static final int LARGEST_ANSWER = 1_000_000;

        private final BlockingQueue<Object> received = new LinkedBlockingQueue<>();
        final Session session;
        final RemoteEndpoint.Basic remote;

        Client(int port) throws IOException, DeploymentException {
            WebSocketContainer container = ContainerProvider.getWebSocketContainer();
            container.setDefaultMaxTextMessageBufferSize(LARGEST_ANSWER);
            container.setDefaultMaxBinaryMessageBufferSize(LARGEST_ANSWER);
            session = container.connectToServer(
                    this, ClientEndpointConfig.Builder.create().build(), URI.create("ws://127.0.0.1:" + port + "/ws"));
            remote = session.getBasicRemote();
        }

        Object next() throws InterruptedException {
            return received.poll(30, TimeUnit.SECONDS);
        }

        /** The service need not read the whole of what is too long. */
        void sendUntilClosed(Sending sending) {
            try {
                sending.to(remote);
            } catch (IOException | IllegalStateException closed) {
                // next() tells by which code
            }
        }

        @Override
        public void onOpen(Session session, EndpointConfig config) {
            session.addMessageHandler(String.class, received::add);
            session.addMessageHandler(ByteBuffer.class, received::add);
            session.addMessageHandler(PongMessage.class, pong -> received.add("pong"));
        }

        @Override
        public void onClose(Session session, CloseReason reason) {
            received.add(reason.getCloseCode().getCode());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/hello/", "/HELLO", "/", "/error", "/book", "/books/1/", "/events/", "/ws/"})
    void unknownPathsAreNotFound(String path) throws Exception { // C20, C31
        for (String method : Arrays.asList("GET", "POST", "OPTIONS", "PURGE")) {
            isProblem(send(method, path), 404, "Not Found", "nothing is here");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "POST|/hello|GET, HEAD",
                "OPTIONS|/hello|GET, HEAD",
                "TRACE|/healthz|GET, HEAD",
                "DELETE|/books/1|GET, HEAD",
                "PURGE|/sleep|GET, HEAD",
                "POST|/events?interval_ms=x|GET, HEAD",
                "POST|/ws|GET",
                "OPTIONS|/ws|GET",
                "GET|/books|POST",
                "OPTIONS|/books|POST"
            })
    void otherMethodsAreNotAllowed(String method, String path, String allow) throws Exception { // C21, C32
        Answer answer = send(method, path);
        isProblem(answer, 405, "Method Not Allowed", "the method is not allowed here");
        assertThat(answer.header("Allow")).isEqualTo(allow);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/hello", "/sleep?ms=1", "/sleep", "/nowhere", "/readyz", "/events"})
    void headIsGetWithoutABody(String path) throws Exception { // C21
        Answer get = send("GET", path);
        Answer head = send("HEAD", path);
        assertThat(head.body).isEmpty();
        assertThat(head.status).isEqualTo(get.status);
        for (String name : Arrays.asList("Content-Type", "Content-Length")) {
            assertThat(head.header(name)).isNotNull().isEqualTo(get.header(name));
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
        for (String type : Arrays.asList("", "text/json", "application/jsonx", "multipart/form-data; boundary=x")) {
            isProblem(post(new byte[70_000], type), 415, "Unsupported Media Type", "the body must be application/json");
        }
        String tooLarge = "the body must not exceed 65536 bytes";
        isProblem(post(new byte[65_537], "application/json"), 413, "Content Too Large", tooLarge);
        HttpEntity chunked = new InputStreamEntity(new ByteArrayInputStream(new byte[70_000]), -1, null);
        isProblem(send(port, "POST", "/books", chunked, "application/json"), 413, "Content Too Large", tooLarge);
        for (String text :
                Arrays.asList("", " ", "{", "{\"name\":\"a\"} x", "{\"name\":NaN}", "{'name':'a'}", "\u00ff")) {
            byte[] body = text.getBytes(StandardCharsets.ISO_8859_1); // the last one is no UTF-8
            isProblem(post(body, "application/json"), 400, "Bad Request", "the body must be JSON in UTF-8");
        }
        byte[] utf16 = "{\"name\":\"a\"}".getBytes(StandardCharsets.UTF_16LE);
        isProblem(post(utf16, "application/json"), 400, "Bad Request", "the body must be JSON in UTF-8");
    }

    @Test
    void namesAreShortStrings() throws Exception { // C23, C36
        List<String> wrong =
                Arrays.asList("null", "1", "\"\"", "\"\\ud800\"", "\"" + times(256, "é") + "\"", "\"a\",\"name\":1");
        for (String name : wrong) {
            byte[] body = ("{\"name\":" + name + "}").getBytes(StandardCharsets.UTF_8);
            isProblem(
                    post(body, "application/json"),
                    422,
                    "Unprocessable Content",
                    "name must be a string of 1 to 255 characters");
        }
        for (String json : Arrays.asList("[]", "\"name\"", "{}", "{\"Name\":\"a\"}")) {
            assertThat(post(json.getBytes(StandardCharsets.UTF_8), "application/json").status)
                    .isEqualTo(422);
        }
    }

    private static String times(int count, String text) {
        return String.join("", Collections.nCopies(count, text));
    }

    @Test
    void charactersAreEscapedOnlyWhereJsonDemandsIt() throws Exception { // C10
        MockHttpOutputMessage answer = new MockHttpOutputMessage();
        new Json().write(new Books.Book(1, "\u001fé/<😀\u2028\""), MediaType.APPLICATION_JSON, answer);
        assertThat(answer.getBodyAsString(StandardCharsets.UTF_8))
                .isEqualTo("{\"id\":1,\"name\":\"\\u001fé/<😀\u2028\\\"\"}");
        assertThat(answer.getHeaders().getContentLength()).isEqualTo(answer.getBodyAsBytes().length);
    }

    @Test
    void everythingRightNeedsTheDatabase() throws Exception { // C38: whatever comes before the statement was accepted
        String long255 = "{\"x\":" + times(2000, "1") + ",\"name\":1,\"name\":\"" + times(255, "😀") + "\"}";
        List<Answer> answers = Arrays.asList(
                post(long255.getBytes(StandardCharsets.UTF_8), "Application/JSON; charset=\"nonsense\""),
                send("GET", "/books/9007199254740991"),
                send("GET", "/sleep-query?ms=1"),
                send("GET", "/slow-query?ms=1"));
        for (Answer answer : answers) {
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
                "UPSTREAM_URL|http://a:1/|UPSTREAM_URL=\"http://a:1/\" is not http://host:port",
                "DATABASE_URL|mysql://u:secret@h:0/d"
                        + "|DATABASE_URL=\"***@h:0/d\" is not mysql://user:password@host:port/database, percent-encoded"
            })
    void aWrongSettingEndsTheStart(String name, String value, String sentence) throws Exception { // C42
        Process process = run(Collections.singletonMap(name, value));
        assertThat(StreamUtils.copyToString(process.getErrorStream(), StandardCharsets.UTF_8))
                .isEqualTo(sentence + System.lineSeparator());
        assertThat(process.waitFor()).isEqualTo(2);
    }

    @Test
    void aSignalLetsRequestsFinish() throws Exception { // C41
        int own = freePort();
        Process process = run(Collections.singletonMap("PORT", "" + own));
        while (!listens(own)) {
            assertThat(process.isAlive()).isTrue();
            Thread.sleep(20);
        }
        ClassicHttpResponse stream = open(events(own, 60_000));
        Client client = new Client(own);
        Future<String> sleeping = BESIDE.submit(() -> get(own, "/sleep?ms=1000"));
        awaitInFlight(own, 3);
        process.destroy();
        assertThat(EntityUtils.toString(stream.getEntity())).isEqualTo("data: 0\n\n"); // and a regular end
        assertThat(client.next()).isEqualTo(1001);
        assertThat(sleeping.get()).isEqualTo("{\"slept_ms\":1000}");
        assertThat(process.waitFor(8, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(143);
    }

    private static boolean listens(int port) {
        try {
            return send(port, "GET", "/healthz", null, "").status == 200;
        } catch (IOException notYet) {
            return false;
        }
    }

    private static Process run(Map<String, String> own) throws IOException {
        String java = Paths.get(System.getProperty("java.home"), "bin", "java").toString();
        ProcessBuilder builder =
                new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), "nosilverbullet.Main");
        builder.environment().putAll(environment(own));
        return builder.start();
    }
}
