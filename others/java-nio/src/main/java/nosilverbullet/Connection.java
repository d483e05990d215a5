package nosilverbullet;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/** One client: what it has sent and was not read to a request yet, and what it has not taken of an answer. */
final class Connection {
    private static final byte[] NOTHING = {};

    private final SocketChannel channel;
    private final Routes routes;
    private final Stats stats;
    private byte[] unread = NOTHING;
    private long body; // bytes still to come, which nobody reads
    private ByteBuffer answer; // null: none is under way
    private boolean counted;
    private boolean last; // closed after this answer
    private long usedAt = System.nanoTime();
    private long since;

    Connection(SocketChannel channel, Routes routes, Stats stats) {
        this.channel = channel;
        this.routes = routes;
        this.stats = stats;
    }

    boolean isIdle() {
        return answer == null;
    }

    long usedAt() {
        return usedAt;
    }

    /** Answers what can be answered without waiting; returns what to wait for then. `input` is for the loop's connections in turn. */
    int serve(ByteBuffer input) throws IOException {
        usedAt = System.nanoTime();
        if (answer != null && !send()) {
            return SelectionKey.OP_WRITE;
        }
        input.clear().put(unread);
        if (channel.read(input) < 0) {
            close();
            return 0;
        }
        input.flip();
        boolean taken = true;
        while (taken && channel.isOpen()) {
            int skipped = (int) Math.min(body, input.remaining());
            input.position(input.position() + skipped);
            body -= skipped;
            var request = body > 0 ? null : Request.read(input);
            if (request == null) {
                break;
            }
            begin(request);
            taken = send();
        }
        unread = input.hasRemaining() ? new byte[input.remaining()] : NOTHING;
        input.get(unread);
        return taken ? SelectionKey.OP_READ : SelectionKey.OP_WRITE;
    }

    private void begin(Request request) {
        last = request.last();
        body = request.bodyBytes();
        counted = routes.counts(request);
        if (counted) {
            since = stats.begin();
        }
        answer = routes.answer(request);
    }

    /** Whether the answer is with the kernel; with the last one the connection is closed. */
    private boolean send() throws IOException {
        channel.write(answer);
        if (answer.hasRemaining()) {
            return false;
        }
        end();
        if (last) {
            close();
        }
        return true;
    }

    private void end() {
        if (answer != null && counted) {
            stats.end(since);
        }
        answer = null;
    }

    void close() {
        end();
        try {
            channel.close();
        } catch (IOException already) {
            // it is closed all the same
        }
    }
}
