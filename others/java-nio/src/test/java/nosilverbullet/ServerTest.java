package nosilverbullet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The part of the contract that this service keeps, byte by byte, from the outside. */
@Timeout(20)
class ServerTest {
    private static final String HELLO = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello";
    private static final String LAST =
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";

    private static Server server;

    @BeforeAll
    static void start() throws IOException {
        server = start(2);
    }

    @AfterAll
    static void stop() {
        server.stop(1000);
    }

    private static Server start(int workers) throws IOException {
        return Server.start(new Settings(InetAddress.getLoopbackAddress(), 0, workers, 128));
    }

    private static Socket connect(Server server) throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), server.port());
    }

    private static void send(Socket client, String text) throws IOException {
        client.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static String take(Socket client, int bytes) throws IOException {
        return new String(client.getInputStream().readNBytes(bytes), StandardCharsets.ISO_8859_1);
    }

    /** All that comes on a connection that the server is asked to close. */
    private static String ask(String requests) throws IOException {
        try (var client = connect(server)) {
            send(client, requests);
            return take(client, Integer.MAX_VALUE);
        }
    }

    private static String closing(String first) {
        return first + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    }

    private static long total() throws IOException {
        var stats = ask(closing("GET /stats"));
        return Long.parseLong(stats.replaceAll("(?s).*\"requests_total\":([0-9]+),.*\"in_flight\":0,.*", "$1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET /hello", "GET /hello?", "GET /hello?x=y"})
    void saysHello(String first) throws IOException {
        assertEquals(LAST, ask(closing(first)));
    }

    @Test
    void headIsGetWithoutItsBody() throws IOException {
        assertEquals(LAST.replaceAll("hello$", ""), ask(closing("HEAD /hello")));
    }

    @ParameterizedTest
    @CsvSource({
        "GET /hello/, 404",
        "GET /HELLO, 404",
        "POST /nothing, 404",
        "GET /readyz, 404",
        "POST /hello, 405",
        "OPTIONS /stats, 405"
    })
    void whatIsNotThereIsAProblem(String first, int status) throws IOException {
        var answer = ask(closing(first));
        assertTrue(answer.startsWith("HTTP/1.1 " + status + " "), answer);
        assertTrue(answer.contains("\r\nContent-Type: application/problem+json\r\n"), answer);
        assertTrue(answer.contains("{\"type\":\"about:blank\",\"title\":\""), answer);
        assertEquals(status == 405, answer.contains("\r\nAllow: GET, HEAD\r\n"), answer);
    }

    @Test
    void aConnectionServesOnWhateverPiecesCome() throws IOException {
        try (var client = connect(server)) {
            client.setTcpNoDelay(true);
            var request = "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n";
            for (int cut = 1; cut < request.length(); cut += 5) {
                send(client, request.substring(0, cut));
                send(client, request.substring(cut));
                assertEquals(HELLO, take(client, HELLO.length()));
            }
        }
    }

    @Test
    void requestsSentAtOnceAreAnsweredInTurn() throws IOException {
        int many = 3000; // more than one read holds, and more answers than the kernel takes while nobody reads
        var requests = "GET /hello HTTP/1.1\r\n\r\n".repeat(many) + closing("GET /nothing");
        var answers = ask(requests);
        assertTrue(answers.startsWith(HELLO.repeat(many) + "HTTP/1.1 404 "));
    }

    @Test
    void aBodyIsPassedOver() throws IOException {
        var body = "GET /stats HTTP/1.1\r\n\r\n".repeat(4000); // longer than one read
        var answer = ask(
                "POST /hello HTTP/1.1\r\nContent-Length: " + body.length() + "\r\n\r\n" + body + closing("GET /hello"));
        assertTrue(answer.startsWith("HTTP/1.1 405 "), answer);
        assertTrue(answer.endsWith("}" + LAST), answer);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET /hello\r\n\r\n",
                "GET /hello HTTP/1.1\r\nno colon\r\n\r\n",
                "GET /hello HTTP/1.1\r\nContent-Length: x\r\n\r\n",
                "GET /hello HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
                "GET /hello HTTP/1.0\r\n\r\n",
            })
    void whatIsNotHttpIsRefusedAndNotCounted(String sent) throws IOException {
        long before = total();
        var answer = ask(sent);
        assertTrue(answer.startsWith("HTTP/1.1 400 ") && answer.contains("Connection: close"), answer);
        assertEquals(before, total());
    }

    @Test
    void aHeadThatNeverEndsIsRefused() throws IOException {
        assertTrue(ask("GET /" + "a".repeat(Request.MOST_BYTES - 5)).startsWith("HTTP/1.1 400 "));
    }

    @Test
    void countsWhatItAnswersButTheService() throws IOException {
        long before = total();
        for (var first :
                new String[] {"GET /hello", "GET /nothing", "HEAD /hello", "POST /hello", "GET /healthz", "GET /runtime"
                }) {
            ask(closing(first));
        }
        assertEquals(before + 4, total());
    }

    @Test
    void saysWhatItIs() throws IOException {
        var said = ask(closing("GET /runtime"));
        assertTrue(said.contains("\"workers\":2,\"pool_size\":0,"), said);
        assertTrue(said.contains("\"handled_by\":\"selector-"), said);
    }

    @Test
    void connectionsAreDealtOutInTurn() throws IOException {
        var selectors = IntStream.range(0, 4).mapToObj(number -> {
            try {
                return ask(closing("GET /runtime")).replaceAll("(?s).*(selector-[0-9]).*", "$1");
            } catch (IOException failed) {
                throw new AssertionError(failed);
            }
        });
        assertEquals(2, selectors.distinct().count());
    }

    @Test
    void stoppingEndsIdleConnectionsAndAcceptsNoMore() throws IOException {
        var other = start(1);
        try (var idle = connect(other)) {
            send(idle, "GET /hello HTTP/1.1\r\n\r\n");
            assertEquals(HELLO, take(idle, HELLO.length()));
            other.stop(5000);
            assertEquals("", take(idle, 1));
            assertThrows(ConnectException.class, () -> connect(other).close());
        }
    }

    @ParameterizedTest
    @CsvSource({"PORT, abc, 1, 65535", "PORT, 65536, 1, 65535", "WORKERS, 0, 1, 1024", "SERVER_THREADS, +5, 1, 100000"})
    void aWrongSettingNamesVariableAndValue(String name, String value, int least, int most) {
        var wrong = assertThrows(Settings.Wrong.class, () -> Settings.from(Map.of(name, value)));
        assertEquals(
                name + "=\"" + value + "\" is not a whole number from " + least + " to " + most, wrong.getMessage());
    }

    @Test
    void anEmptyVariableCountsAsNotSet() {
        assertEquals(8080, Settings.from(Map.of("PORT", "", "HOST", "")).port());
    }
}
