package nosilverbullet;

import java.time.Duration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.socket.server.WebSocketService;
import org.springframework.web.reactive.socket.server.support.HandshakeWebSocketService;
import org.springframework.web.reactive.socket.server.upgrade.ReactorNettyRequestUpgradeStrategy;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.ServerWebInputException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.http.server.WebsocketServerSpec;

/** C14, C15: connections that last as long as their client wants, or until the service stops. */
@RestController
class Streaming {
    /** Attribute of a request that has become a socket, which counts itself when it ends (C4). */
    static final String SOCKET = Streaming.class.getName() + ".SOCKET";

    private final Stats stats;
    private final Sinks.Empty<Void> stopping = Sinks.empty();
    private final WebSocketService sockets = new HandshakeWebSocketService(new ReactorNettyRequestUpgradeStrategy(
            () -> WebsocketServerSpec.builder().maxFramePayloadLength(Socket.MAX_READ_BYTES)));

    Streaming(Stats stats) {
        this.stats = stats;
    }

    /** C41: before the server waits for what is in flight. */
    @EventListener(ContextClosedEvent.class)
    void stop() {
        stopping.tryEmitEmpty();
    }

    @GetMapping(path = "/events", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    Flux<String> events(ServerHttpRequest request, ServerHttpResponse response) {
        int intervalMs = Parameters.number(request, "interval_ms", 10, 60_000);
        response.getHeaders().setCacheControl("no-store");
        return Flux.interval(Duration.ofMillis(intervalMs))
                .onBackpressureDrop() // by a client that reads slowly
                .startWith(0L) // waits until it is asked for, where a first tick at once may be too early and dropped
                .index((number, tick) -> " " + number) // Spring puts no blank behind the colon
                .takeUntilOther(stopping.asMono());
    }

    @GetMapping("/ws")
    Mono<Void> ws(ServerWebExchange exchange) {
        if (!"13".equals(exchange.getRequest().getHeaders().getFirst("Sec-WebSocket-Version"))) {
            throw upgradeRequired(); // Spring leaves this one to Netty
        }
        long begun = System.nanoTime();
        var socket = new Socket(stopping.asMono());
        return sockets.handleRequest(exchange, session -> {
                    exchange.getAttributes().put(SOCKET, true);
                    return socket.handle(session).doFinally(signal -> stats.end(begun));
                })
                .onErrorMap(ServerWebInputException.class, noHandshake -> upgradeRequired());
    }

    private static RuntimeException upgradeRequired() {
        var problem = Problems.of(HttpStatus.UPGRADE_REQUIRED, "upgrade to a WebSocket");
        problem.getHeaders().setUpgrade("websocket");
        problem.getHeaders().setConnection("Upgrade"); // RFC 9110 asks for it beside Upgrade
        return problem;
    }
}
