package nosilverbullet;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import javax.servlet.ServletOutputStream;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import javax.websocket.CloseReason;
import javax.websocket.CloseReason.CloseCodes;
import javax.websocket.DeploymentException;
import javax.websocket.Endpoint;
import javax.websocket.EndpointConfig;
import javax.websocket.Extension;
import javax.websocket.RemoteEndpoint;
import javax.websocket.Session;
import javax.websocket.server.ServerContainer;
import javax.websocket.server.ServerEndpointConfig;
import org.apache.tomcat.websocket.server.WsServerContainer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** C14, C15, C24: connections that last as long as their client wants, or until the service stops. */
@RestController
class Streaming {
    private static final Logger LOG = LoggerFactory.getLogger(Streaming.class);
    private static final int LARGEST_MESSAGE = 65_536; // bytes (C24)
    private static final long CLOSE_LIMIT_MS = 2000; // Tomcat would try for 20 s, and C41 allows 8

    private final Stats stats;
    private final ExecutorService threads;
    private final ServerEndpointConfig sockets;
    private final Set<Runnable> ends = ConcurrentHashMap.newKeySet(); // one for each that is open
    private volatile boolean stopping;

    Streaming(Stats stats, ExecutorService threads) {
        this.stats = stats;
        this.threads = threads;
        this.sockets = ServerEndpointConfig.Builder.create(Socket.class, "/ws")
                .configurator(new Configurator())
                .build();
    }

    /** C41: before Tomcat waits for what is in flight. A client that does not read holds up its own close only. */
    @EventListener(ContextClosedEvent.class)
    void stop() throws InterruptedException {
        stopping = true;
        threads.invokeAll(
                ends.stream().map(Executors::callable).collect(Collectors.toList()),
                CLOSE_LIMIT_MS,
                TimeUnit.MILLISECONDS);
    }

    private void opened(Runnable end) {
        ends.add(end);
        if (stopping) {
            end.run();
        }
    }

    /** The thread is the stream's own for as long as it lasts. A client that left shows in a write that fails. */
    @GetMapping("/events")
    void events(HttpServletRequest request, HttpServletResponse response) throws IOException, InterruptedException {
        int intervalMs = Parameters.number(request, "interval_ms", 10, 60_000);
        response.setContentType(MediaType.TEXT_EVENT_STREAM_VALUE);
        response.setHeader(HttpHeaders.CACHE_CONTROL, "no-store");
        if (request.getMethod().equals("HEAD")) {
            response.flushBuffer(); // there is no body to wait for
            return;
        }
        CountDownLatch ended = new CountDownLatch(1);
        Runnable end = ended::countDown;
        opened(end);
        try {
            ServletOutputStream body = response.getOutputStream();
            long number = 0;
            do {
                body.print("data: " + number++ + "\n\n");
                body.flush();
            } while (!ended.await(intervalMs, TimeUnit.MILLISECONDS));
        } finally {
            ends.remove(end);
        }
    }

    /**
     * Tomcat's WebSockets by their standard interface, whose upgrade of a request is Tomcat's own: Spring's cannot
     * refuse permessage-deflate.
     */
    @RequestMapping("/ws")
    void ws(HttpServletRequest request, HttpServletResponse response) throws IOException, DeploymentException {
        if (!request.getMethod().equals("GET")) {
            throw Problem.methodNotAllowed("GET"); // Spring's GET would bring HEAD along
        }
        if (!"websocket".equalsIgnoreCase(request.getHeader(HttpHeaders.UPGRADE))) {
            throw Problem.upgradeRequired();
        }
        WsServerContainer container =
                (WsServerContainer) request.getServletContext().getAttribute(ServerContainer.class.getName());
        container.upgradeHttpToWebSocket(request, response, sockets, Collections.emptyMap());
    }

    /** A socket of its own for each upgrade, and nothing negotiated. */
    private final class Configurator extends ServerEndpointConfig.Configurator {
        @Override
        public <T> T getEndpointInstance(Class<T> type) {
            return type.cast(new Socket());
        }

        @Override
        public List<Extension> getNegotiatedExtensions(List<Extension> installed, List<Extension> requested) {
            return Collections.emptyList();
        }
    }

    /**
     * Takes messages in parts and puts them together itself: to get them whole, Tomcat would keep buffers of the
     * largest one, 192 KiB for each socket, idle ones too.
     */
    private final class Socket extends Endpoint {
        private final long begun = System.nanoTime();
        private final Runnable end = () -> close(CloseCodes.GOING_AWAY);
        private Session session;
        private ByteArrayOutputStream message = new ByteArrayOutputStream();

        @Override
        public void onOpen(Session session, EndpointConfig config) {
            this.session = session;
            RemoteEndpoint.Basic client = session.getBasicRemote();
            session.addMessageHandler(
                    String.class,
                    (part, last) -> received(
                            part.getBytes(StandardCharsets.UTF_8),
                            last,
                            whole -> client.sendText(new String(whole, StandardCharsets.UTF_8))));
            session.addMessageHandler(
                    byte[].class,
                    (part, last) -> received(part, last, whole -> client.sendBinary(ByteBuffer.wrap(whole))));
            opened(end);
        }

        private void received(byte[] part, boolean last, Echo echo) {
            if (!session.isOpen()) {
                return; // a message that is too long goes on until its client has read the close
            }
            message.write(part, 0, part.length);
            if (message.size() > LARGEST_MESSAGE) {
                close(CloseCodes.TOO_BIG);
            } else if (last) {
                byte[] whole = message.toByteArray();
                message = new ByteArrayOutputStream(); // not reset: an idle socket keeps no large buffer
                try {
                    echo.send(whole);
                } catch (IOException | IllegalStateException gone) {
                    // Tomcat has closed the session, or is about to
                }
            }
        }

        private void close(CloseCodes code) {
            try {
                session.close(new CloseReason(code, ""));
            } catch (IOException gone) {
                // which is what was wanted
            }
        }

        @Override
        public void onClose(Session session, CloseReason reason) {
            ends.remove(end);
            stats.end(begun); // Routes has left it to the socket
        }

        /** Clients that left come here, too. */
        @Override
        public void onError(Session session, Throwable failure) {
            if (!(failure instanceof IOException)) {
                LOG.error("internal error", failure);
            }
        }
    }

    private interface Echo { // which an inner class cannot have in Java 8
        void send(byte[] message) throws IOException;
    }
}
