package nosilverbullet;

import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.TooLongFrameException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import org.springframework.web.reactive.socket.CloseStatus;
import org.springframework.web.reactive.socket.WebSocketHandler;
import org.springframework.web.reactive.socket.WebSocketMessage;
import org.springframework.web.reactive.socket.WebSocketSession;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** C24: one WebSocket, until its client leaves, or is told why it must. Reactor Netty itself answers ping and close. */
record Socket(Mono<Void> stopping) implements WebSocketHandler {
    /** What is longer than allowed is read up to here, so that its client is not still writing when it is told. */
    static final int MAX_READ_BYTES = 1 << 20;

    private static final int MAX_MESSAGE_BYTES = 65_536;

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
                .<WebSocketMessage>handle((message, out) ->
                        refusal(message).ifPresentOrElse(refused::tryEmitValue, () -> out.next(message.retain())));
        var echoed = session.send(echoes).doFinally(signal -> refused.tryEmitEmpty());
        var closed = Mono.firstWithSignal(refused.asMono(), stopping.thenReturn(CloseStatus.GOING_AWAY))
                .flatMap(session::close);
        return Mono.whenDelayError(echoed, closed); // each ends the other, but a close is never cancelled half written
    }

    private static Optional<CloseStatus> refusal(WebSocketMessage message) {
        var payload = message.getPayload();
        if (payload.readableByteCount() > MAX_MESSAGE_BYTES) {
            return Optional.of(CloseStatus.TOO_BIG_TO_PROCESS);
        }
        boolean isText = message.getType() == WebSocketMessage.Type.TEXT;
        return isText && !ByteBufUtil.isText(NettyDataBufferFactory.toByteBuf(payload), StandardCharsets.UTF_8)
                ? Optional.of(CloseStatus.BAD_DATA)
                : Optional.empty();
    }
}
