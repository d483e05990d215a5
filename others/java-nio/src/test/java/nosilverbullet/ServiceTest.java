package nosilverbullet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The exchanges of contract/, and what those cannot say: this service reads and writes HTTP itself. */
@Timeout(20)
class ServiceTest {
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

    @Test
    void answersAsTheExchangesSay() throws Exception {
        assertEquals(List.of(), Exchanges.answeredWrongly(server.port()));
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
    void connectionsAreDealtOutInTurn() throws IOException {
        var selectors = new HashSet<String>();
        for (int number = 0; number < 4; number++) {
            selectors.add(ask(closing("GET /runtime")).replaceAll("(?s).*(selector-[0-9]).*", "$1"));
        }
        assertEquals(2, selectors.size());
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
}
