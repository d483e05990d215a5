package nosilverbullet;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.websocket.DeploymentException;
import jakarta.websocket.Extension;
import jakarta.websocket.server.ServerContainer;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.socket.server.standard.ServerEndpointRegistration;

/** C14, C15: connections that last as long as their client wants, or until the service stops. */
@RestController
class Streaming {
    private final Stats stats;
    final Set<Runnable> ends = ConcurrentHashMap.newKeySet(); // one for each that is open
    private volatile boolean stopping;

    Streaming(Stats stats) {
        this.stats = stats;
    }

    void opened(Runnable end) {
        ends.add(end);
        if (stopping) {
            end.run();
        }
    }

    /** C41: before Tomcat waits for what is in flight. */
    @EventListener(ContextClosedEvent.class)
    void stop() {
        stopping = true;
        try (var closing = Executors.newVirtualThreadPerTaskExecutor()) { // who does not read holds up only itself
            ends.forEach(closing::execute);
        }
    }

    /** The thread is the stream's own for as long as it lasts. A client that left shows in a write that fails. */
    @GetMapping("/events")
    void events(HttpServletRequest request, HttpServletResponse response) throws IOException, InterruptedException {
        int intervalMs = Parameters.number(request, "interval_ms", 10, 60_000);
        response.setContentType(MediaType.TEXT_EVENT_STREAM_VALUE);
        response.setHeader(HttpHeaders.CACHE_CONTROL, "no-store");
        boolean head = request.getMethod().equals("HEAD"); // which has no body to wait for
        var ended = new CountDownLatch(1);
        Runnable end = ended::countDown;
        opened(end);
        try {
            var body = response.getOutputStream();
            long number = 0;
            do {
                body.print("data: " + number++ + "\n\n");
                body.flush();
            } while (!head && !ended.await(intervalMs, TimeUnit.MILLISECONDS));
        } finally {
            ends.remove(end);
        }
    }

    /** Tomcat's WebSockets by their standard interface: Spring's own cannot refuse permessage-deflate. */
    @GetMapping("/ws")
    void ws(HttpServletRequest request, HttpServletResponse response) throws IOException, DeploymentException {
        if (!"websocket".equalsIgnoreCase(request.getHeader(HttpHeaders.UPGRADE))) {
            response.setHeader(HttpHeaders.UPGRADE, "websocket");
            response.setHeader(HttpHeaders.CONNECTION, "Upgrade"); // RFC 9110 asks for it beside Upgrade
            throw Problems.of(HttpStatus.UPGRADE_REQUIRED, "upgrade to a WebSocket");
        }
        var endpoint = new ServerEndpointRegistration("/ws", new Socket(this, stats)) {
            @Override
            public List<Extension> getNegotiatedExtensions(List<Extension> installed, List<Extension> requested) {
                return List.of();
            }
        };
        var container = (ServerContainer) request.getServletContext().getAttribute(ServerContainer.class.getName());
        container.upgradeHttpToWebSocket(request, response, endpoint, Map.of());
    }
}
