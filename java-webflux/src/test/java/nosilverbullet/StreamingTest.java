package nosilverbullet;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.ConfigurableApplicationContext;

/** Connections that stay open (C14, C15, C24), each test with a service of its own. */
class StreamingTest {

    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static final int PATIENCE_S = 20;

    private ConfigurableApplicationContext service;
    private int port;

    @BeforeEach
    void start() throws IOException {
        try (var socket = new ServerSocket(0, 0, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        service = Main.start(Settings.from(
                Map.of("PORT", "" + port, "DATABASE_URL", "mysql://user:password@127.0.0.1:1/nsb", "WORKERS", "2")));
    }

    @AfterEach
    void stop() {
        service.close();
    }

    @Test
    void eventsComeUntilTheClientLeaves() throws Exception {
        var answer = events(10);
        assertEquals(200, answer.statusCode());
        assertEquals(
                "text/event-stream", answer.headers().firstValue("Content-Type").orElse(""));
        assertEquals("no-store", answer.headers().firstValue("Cache-Control").orElse(""));
        assertTrue(answer.headers().firstValue("Content-Length").isEmpty());
        var begin = "data: 0\n\ndata: 1\n\ndata: 2\n\ndata: 3\n\n";
        assertEquals(begin, new String(answer.body().readNBytes(begin.length()), StandardCharsets.US_ASCII));
        assertTrue(stats().startsWith("{\"requests_total\":0,"), stats());
        awaitInFlight(1);
        answer.body().close();
        awaitInFlight(0);
        assertTrue(stats().startsWith("{\"requests_total\":1,"), stats());

        var silent = events(60_000);
        awaitInFlight(1);
        silent.body().close();
        awaitInFlight(0);

        var head = CLIENT.send(request("/events?interval_ms=60000").HEAD().build(), BodyHandlers.ofString());
        assertEquals(200, head.statusCode());
        assertEquals(
                "text/event-stream", head.headers().firstValue("Content-Type").orElse(""));
        awaitInFlight(0);
    }

    @Test
    void messagesComeBack() throws Exception {
        var client = new Client();
        for (var text : List.of("안녕 😀", "", "a".repeat(65_536), "é".repeat(32_768))) {
            client.socket.sendText(text, true).join();
            assertEquals(text, client.next());
        }
        client.socket.sendText("o", false).join();
        client.socket.sendText("ne", true).join();
        assertEquals("one", client.next());
        for (int size : new int[] {0, 1, 65_536}) {
            client.socket.sendBinary(ByteBuffer.allocate(size), true).join();
            assertArrayEquals(new byte[size], (byte[]) client.next());
        }
        client.socket.sendPing(ByteBuffer.allocate(1)).join();
        assertEquals("pong", client.next());
        awaitInFlight(1);
        assertTrue(stats().startsWith("{\"requests_total\":0,"), stats());
        client.socket.sendClose(WebSocket.NORMAL_CLOSURE, "").join();
        assertEquals(1000, client.next());
        awaitInFlight(0);
        assertTrue(stats().startsWith("{\"requests_total\":1,"), stats());

        var leaving = new Client();
        awaitInFlight(1);
        leaving.socket.abort();
        awaitInFlight(0);
    }

    @Test
    void messagesThatAreTooLongClose() throws Exception {
        for (var text : List.of("a".repeat(65_537), "é".repeat(32_769))) {
            var client = new Client();
            client.socket.sendText(text, true);
            assertEquals(1009, client.next());
        }
        for (var part : new int[] {40_000, 1_000_000}) { // the second is more than is read
            var client = new Client();
            client.socket.sendBinary(ByteBuffer.allocate(part), false).join();
            client.socket.sendBinary(ByteBuffer.allocate(part), true);
            assertEquals(1009, client.next());
        }
        awaitInFlight(0);
    }

    @Test
    void aSocketNegotiatesNothingAndRefusesWhatIsNotUtf8() throws Exception {
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
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(PATIENCE_S * 1000);
            socket.getOutputStream().write(handshake);
            var text = new StringBuilder();
            while (!text.toString().endsWith("\r\n\r\n")) {
                text.append((char) socket.getInputStream().read());
            }
            var head = text.toString();
            assertTrue(head.startsWith("HTTP/1.1 101 ") && head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), head);
            assertFalse(head.toLowerCase().contains("sec-websocket-extensions"), head);
            assertFalse(head.toLowerCase().contains("sec-websocket-protocol"), head);
            socket.getOutputStream().write(textFf);
            var close = ByteBuffer.wrap(socket.getInputStream().readNBytes(4));
            assertEquals((byte) 0x88, close.get());
            assertEquals(1007, close.getShort(2));
        }
        awaitInFlight(0);
    }

    @Test
    void withoutAnUpgradeThereIsNoSocket() throws Exception {
        for (var version : List.of("13", "12")) {
            var answer = CLIENT.send(
                    request("/ws").header("Sec-WebSocket-Version", version).build(), BodyHandlers.ofString());
            assertEquals(426, answer.statusCode());
            assertEquals("websocket", answer.headers().firstValue("Upgrade").orElse(""));
            assertEquals(
                    "{\"type\":\"about:blank\",\"title\":\"Upgrade Required\",\"status\":426,"
                            + "\"detail\":\"upgrade to a WebSocket\"}",
                    answer.body());
        }
        var head = CLIENT.send(request("/ws").HEAD().build(), BodyHandlers.ofString());
        assertEquals(405, head.statusCode());
        assertEquals("GET", head.headers().firstValue("Allow").orElse(""));
        awaitInFlight(0);
        assertTrue(stats().startsWith("{\"requests_total\":3,"), stats());
    }

    @Test
    void streamsEndAtOnceWhenTheServiceStopsAndTheOthersFinish() throws Exception { // C41
        var stream = events(60_000);
        var client = new Client();
        var sleeping = CLIENT.sendAsync(request("/sleep?ms=1000").build(), BodyHandlers.ofString());
        awaitInFlight(3);
        var stopped = CompletableFuture.runAsync(service::close);
        assertEquals("data: 0\n\n", new String(stream.body().readAllBytes(), StandardCharsets.US_ASCII));
        assertEquals(1001, client.next());
        assertEquals(
                "{\"slept_ms\":1000}",
                sleeping.get(PATIENCE_S, TimeUnit.SECONDS).body());
        stopped.get(PATIENCE_S, TimeUnit.SECONDS);
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .timeout(Duration.ofSeconds(PATIENCE_S));
    }

    private HttpResponse<InputStream> events(int intervalMs) throws Exception {
        return CLIENT.send(request("/events?interval_ms=" + intervalMs).build(), BodyHandlers.ofInputStream());
    }

    private String stats() throws Exception {
        return CLIENT.send(request("/stats").build(), BodyHandlers.ofString()).body();
    }

    private void awaitInFlight(int wanted) throws Exception {
        var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_S);
        while (!stats().contains("\"in_flight\":" + wanted + ",")) {
            assertTrue(System.nanoTime() < deadline, stats());
            Thread.sleep(1);
        }
    }

    /** What comes back on a socket: texts, bytes, "pong" and the code of a close. */
    private final class Client implements WebSocket.Listener {
        private final BlockingQueue<Object> received = new LinkedBlockingQueue<>();
        private final StringBuilder text = new StringBuilder();
        private final ByteArrayOutputStream binary = new ByteArrayOutputStream();
        final WebSocket socket;

        Client() {
            socket = CLIENT.newWebSocketBuilder()
                    .connectTimeout(Duration.ofSeconds(PATIENCE_S))
                    .buildAsync(URI.create("ws://127.0.0.1:" + port + "/ws"), this)
                    .join();
        }

        Object next() throws InterruptedException {
            return received.poll(PATIENCE_S, TimeUnit.SECONDS);
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
                received.add(binary.toByteArray());
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

        @Override
        public void onError(WebSocket socket, Throwable failure) {
            received.add(failure);
        }
    }
}
