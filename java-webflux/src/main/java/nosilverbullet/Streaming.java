package nosilverbullet;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.socket.server.WebSocketService;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.ServerWebInputException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** C14, C15: connections that last as long as their client wants, or until the service stops. */
@RestController
class Streaming {
    private static final String SOCKET = Streaming.class.getName() + ".SOCKET";

    private final Stats stats;
    private final Sinks.Empty<Void> stopping = Sinks.empty();
    private final WebSocketService sockets = Socket.service();

    Streaming(Stats stats) {
        this.stats = stats;
    }

    /** C41: before the server waits for what is in flight. */
    @EventListener(ContextClosedEvent.class)
    void stop() {
        stopping.tryEmitEmpty();
    }

    /** Not as ServerSentEvent, because Spring puts no blank behind the colon. */
    @GetMapping("/events")
    Mono<Void> events(@RequestParam MultiValueMap<String, String> query, ServerHttpResponse response) {
        int intervalMs = Parameters.number(query, "interval_ms", 10, 60_000);
        response.getHeaders().setContentType(MediaType.TEXT_EVENT_STREAM);
        response.getHeaders().setCacheControl("no-store");
        var events = Flux.interval(Duration.ofMillis(intervalMs))
                .onBackpressureDrop() // by a client that reads slowly
                .startWith(0L) // waits until it is asked for, where a first tick at once may be too early and dropped
                .index((number, tick) -> event(number, response))
                .takeUntilOther(stopping.asMono());
        return response.writeAndFlushWith(events);
    }

    private static Mono<DataBuffer> event(long number, ServerHttpResponse response) {
        var text = "data: " + number + "\n\n";
        return Mono.just(response.bufferFactory().wrap(text.getBytes(StandardCharsets.US_ASCII)));
    }

    @RequestMapping("/ws")
    Mono<Void> ws(ServerWebExchange exchange) {
        var request = exchange.getRequest();
        if (!request.getMethod().equals(HttpMethod.GET)) {
            throw Problems.methodNotAllowed("GET"); // Spring's GET would bring HEAD along
        }
        if (!"13".equals(request.getHeaders().getFirst("Sec-WebSocket-Version"))) {
            throw upgradeRequired(); // Spring leaves this one to Netty
        }
        long begun = System.nanoTime();
        var socket = new Socket(stopping.asMono());
        exchange.getAttributes().put(SOCKET, true);
        return sockets.handleRequest(exchange, session -> socket.handle(session).doFinally(signal -> stats.end(begun)))
                .doOnError(failure -> exchange.getAttributes().remove(SOCKET))
                .onErrorMap(ServerWebInputException.class, noHandshake -> upgradeRequired());
    }

    /** Whether the request became a socket, which counts itself when it ends (C4). */
    static boolean isSocket(ServerWebExchange exchange) {
        return exchange.getAttributes().containsKey(SOCKET);
    }

    private static Problem upgradeRequired() {
        return new Problem(HttpStatus.UPGRADE_REQUIRED, "upgrade to a WebSocket")
                .with(HttpHeaders.UPGRADE, "websocket")
                .with(HttpHeaders.CONNECTION, "Upgrade"); // RFC 9110 asks for it beside Upgrade
    }
}
