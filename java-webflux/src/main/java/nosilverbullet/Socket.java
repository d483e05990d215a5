package nosilverbullet;

import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.TooLongFrameException;
import java.nio.charset.StandardCharsets;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import org.springframework.web.reactive.socket.CloseStatus;
import org.springframework.web.reactive.socket.WebSocketHandler;
import org.springframework.web.reactive.socket.WebSocketMessage;
import org.springframework.web.reactive.socket.WebSocketSession;
import org.springframework.web.reactive.socket.server.WebSocketService;
import org.springframework.web.reactive.socket.server.support.HandshakeWebSocketService;
import org.springframework.web.reactive.socket.server.upgrade.ReactorNettyRequestUpgradeStrategy;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.http.server.WebsocketServerSpec;

/** C24: one WebSocket, until its client leaves, or is told why it must. Reactor Netty answers ping and close by itself. */
record Socket(Mono<Void> stopping) implements WebSocketHandler {
    private static final int MAX_MESSAGE_BYTES = 65_536;
    /** What is longer than allowed is read up to here, so that its client is not still writing when it is told. */
    private static final int MAX_READ_BYTES = 1 << 20;

    static WebSocketService service() {
        return new HandshakeWebSocketService(new ReactorNettyRequestUpgradeStrategy(
                () -> WebsocketServerSpec.builder().maxFramePayloadLength(MAX_READ_BYTES)));
    }

    @Override
    public Mono<Void> handle(WebSocketSession session) {
        var refused = Sinks.<CloseStatus>one(); // not an error: that would close the socket with no reason
        var echoes = session.receive()
                .onErrorComplete(failure -> {
                    if (failure instanceof TooLongFrameException) {
                        refused.tryEmitValue(CloseStatus.TOO_BIG_TO_PROCESS);
                    }
                    return true; // the client left, or Netty has closed
                })
                .filter(message -> message.getType() != WebSocketMessage.Type.PONG) // that nobody asked for
                .<WebSocketMessage>handle((message, out) -> {
                    var refusal = refusal(message);
                    if (refusal == null) {
                        out.next(message.retain());
                    } else {
                        refused.tryEmitValue(refusal);
                    }
                });
        var echoed = session.send(echoes).doFinally(signal -> refused.tryEmitEmpty());
        var closed = Mono.firstWithSignal(refused.asMono(), stopping.thenReturn(CloseStatus.GOING_AWAY))
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
