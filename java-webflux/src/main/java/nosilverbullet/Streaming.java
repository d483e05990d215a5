package nosilverbullet;

import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.TooLongFrameException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.socket.CloseStatus;
import org.springframework.web.reactive.socket.WebSocketMessage;
import org.springframework.web.reactive.socket.WebSocketSession;
import org.springframework.web.reactive.socket.server.WebSocketService;
import org.springframework.web.reactive.socket.server.support.HandshakeWebSocketService;
import org.springframework.web.reactive.socket.server.upgrade.ReactorNettyRequestUpgradeStrategy;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.ServerWebInputException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.http.server.WebsocketServerSpec;

/** Connections that last as long as their client wants, or until the service stops. */
@RestController
class Streaming {

    private static final String SOCKET = Streaming.class.getName() + ".SOCKET";
    private static final int MAX_MESSAGE_BYTES = 65_536; // C24
    /** What is longer than allowed is read up to here, so that its client is not still writing when it is told. */
    private static final int MAX_READ_BYTES = 1 << 20;

    private final Stats stats;
    private final Sinks.Empty<Void> stopping = Sinks.empty();
    private final WebSocketService upgrades = new HandshakeWebSocketService(new ReactorNettyRequestUpgradeStrategy(
            () -> WebsocketServerSpec.builder().maxFramePayloadLength(MAX_READ_BYTES)));

    Streaming(Stats stats) {
        this.stats = stats;
    }

    /** C41: before the server waits for what is in flight. */
    @EventListener(ContextClosedEvent.class)
    void stop() {
        stopping.tryEmitEmpty();
    }

    /** C14. Not as ServerSentEvent, because Spring puts no blank behind the colon. */
    @GetMapping("/events")
    Mono<Void> events(@RequestParam MultiValueMap<String, String> query, ServerHttpResponse response) {
        var interval = Duration.ofMillis(Parameters.intervalMs(query));
        response.getHeaders().setContentType(MediaType.TEXT_EVENT_STREAM);
        response.getHeaders().setCacheControl("no-store");
        var events = Flux.interval(interval)
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

    /** C15. */
    @GetMapping("/ws")
    Mono<Void> ws(ServerWebExchange exchange) {
        var request = exchange.getRequest();
        if (request.getMethod() == HttpMethod.HEAD) {
            return Mono.error(Problem.methodNotAllowed("GET"));
        }
        if (!"13".equals(request.getHeaders().getFirst("Sec-WebSocket-Version"))) {
            return Mono.error(Problem.upgradeRequired()); // Spring leaves this one to Netty
        }
        var begun = System.nanoTime();
        exchange.getAttributes().put(SOCKET, true);
        return upgrades.handleRequest(exchange, session -> echo(session).doFinally(signal -> stats.end(begun)))
                .doOnError(failure -> exchange.getAttributes().remove(SOCKET))
                .onErrorMap(ServerWebInputException.class, noHandshake -> Problem.upgradeRequired());
    }

    /** Whether the request became a socket, which counts itself when it ends (C4). */
    static boolean isSocket(ServerWebExchange exchange) {
        return exchange.getAttributes().containsKey(SOCKET);
    }

    /** Until the client leaves, or is told why it must. Reactor Netty answers ping and close by itself. */
    private Mono<Void> echo(WebSocketSession session) {
        var refused = Sinks.<CloseStatus>one(); // not an error: that would close the socket with no reason
        var echoes = session.receive()
                .onErrorComplete(failure -> {
                    if (failure instanceof TooLongFrameException) {
                        refused.tryEmitValue(CloseStatus.TOO_BIG_TO_PROCESS);
                    }
                    return true; // the client left, or Netty has closed
                })
                .<WebSocketMessage>handle((message, out) -> {
                    switch (message.getType()) {
                        case TEXT, BINARY -> {
                            var refusal = refusal(message);
                            if (refusal == null) {
                                out.next(message.retain());
                            } else {
                                refused.tryEmitValue(refusal);
                            }
                        }
                        default -> {} // a pong that nobody asked for
                    }
                });
        var echoed = session.send(echoes).doFinally(signal -> refused.tryEmitEmpty());
        var closed = Mono.firstWithSignal(refused.asMono(), stopping.asMono().thenReturn(CloseStatus.GOING_AWAY))
                .flatMap(session::close);
        return Mono.whenDelayError(echoed, closed); // each ends the other, but a close is never cancelled half written
    }

    private static CloseStatus refusal(WebSocketMessage message) {
        var payload = message.getPayload();
        if (payload.readableByteCount() > MAX_MESSAGE_BYTES) {
            return CloseStatus.TOO_BIG_TO_PROCESS;
        }
        var isText = message.getType() == WebSocketMessage.Type.TEXT;
        return isText && !ByteBufUtil.isText(NettyDataBufferFactory.toByteBuf(payload), StandardCharsets.UTF_8)
                ? CloseStatus.BAD_DATA
                : null;
    }
}
