package nosilverbullet;

import static java.nio.charset.StandardCharsets.UTF_8;

import jakarta.websocket.CloseReason;
import jakarta.websocket.CloseReason.CloseCodes;
import jakarta.websocket.Endpoint;
import jakarta.websocket.EndpointConfig;
import jakarta.websocket.Session;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * C24: one WebSocket. It takes messages in parts and puts them together itself: to get them whole, Tomcat would keep
 * buffers of the largest one, 192 KiB for each socket, idle ones too.
 */
final class Socket extends Endpoint {
    private static final int MAX_MESSAGE_BYTES = 65_536;

    private final Streaming streams;
    private final Stats stats;
    private final long begun = System.nanoTime();
    private final Runnable end = () -> close(CloseCodes.GOING_AWAY);
    private Session session;
    private ByteArrayOutputStream message = new ByteArrayOutputStream();

    Socket(Streaming streams, Stats stats) {
        this.streams = streams;
        this.stats = stats;
    }

    @Override
    public void onOpen(Session session, EndpointConfig config) {
        this.session = session;
        // Else 50 ms, which a socket that has just echoed on a busy machine may need itself.
        session.getUserProperties().put("org.apache.tomcat.websocket.ABNORMAL_SESSION_CLOSE_SEND_TIMEOUT", 2000L);
        session.addMessageHandler(String.class, (part, last) -> received(part.getBytes(UTF_8), last, true));
        session.addMessageHandler(byte[].class, (part, last) -> received(part, last, false));
        streams.opened(end);
    }

    private void received(byte[] part, boolean last, boolean text) {
        if (!session.isOpen()) {
            return; // a message that is too long goes on until its client has read the close
        }
        message.writeBytes(part);
        if (message.size() > MAX_MESSAGE_BYTES) {
            close(CloseCodes.TOO_BIG);
        } else if (last) {
            var whole = message.toByteArray();
            message = new ByteArrayOutputStream(); // not reset: an idle socket keeps no large buffer
            try {
                if (text) {
                    session.getBasicRemote().sendText(new String(whole, UTF_8));
                } else {
                    session.getBasicRemote().sendBinary(ByteBuffer.wrap(whole));
                }
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
        streams.ends.remove(end);
        stats.end(begun); // Routes has left it to the socket
    }

    @Override
    public void onError(Session session, Throwable failure) {
        if (!(failure instanceof IOException)) { // else the client left
            Problems.LOG.error("internal error", failure);
        }
    }
}
