package nosilverbullet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A selector and its one thread: while it serves a connection, its other connections wait. */
final class Loop implements Runnable {
    static final int KEEP_ALIVE_S = 75; // C62

    private static final int SWEEP_MS = 5_000; // how late an idle connection may be closed
    private static final int STOPPING_MS = 50;

    private final Selector selector = Selector.open();
    private final Queue<SocketChannel> dealt = new ConcurrentLinkedQueue<>();
    private final ByteBuffer input = ByteBuffer.allocateDirect(Request.MOST_BYTES);
    private final Routes routes;
    private final Stats stats;
    private List<Loop> all = List.of();
    private int turn;
    private volatile boolean stopping;

    Loop(Routes routes, Stats stats) throws IOException {
        this.routes = routes;
        this.stats = stats;
    }

    /** To be called before this loop's thread starts. */
    void accept(ServerSocketChannel listener, List<Loop> loops) throws IOException {
        all = loops;
        listener.register(selector, SelectionKey.OP_ACCEPT);
    }

    void stop() {
        stopping = true;
        selector.wakeup();
    }

    @Override
    public void run() {
        try {
            long swept = System.nanoTime();
            while (!stopping || !selector.keys().isEmpty()) {
                selector.select(this::serve, stopping ? STOPPING_MS : SWEEP_MS);
                for (var channel = dealt.poll(); channel != null; channel = dealt.poll()) {
                    channel.register(selector, SelectionKey.OP_READ, new Connection(channel, routes, stats));
                }
                if (stopping || System.nanoTime() - swept > SWEEP_MS * 1_000_000L) {
                    swept = System.nanoTime();
                    sweep(swept);
                }
            }
        } catch (IOException broken) {
            throw new UncheckedIOException("the selector does not work any more", broken);
        }
    }

    private void serve(SelectionKey key) {
        if (key.isAcceptable()) {
            deal((ServerSocketChannel) key.channel());
            return;
        }
        var connection = (Connection) key.attachment();
        try {
            int waitFor = connection.serve(input);
            if (key.isValid()) { // it is closed otherwise
                key.interestOps(waitFor);
            }
        } catch (IOException left) {
            connection.close(); // reset by its client: nobody is there to be told
        } catch (RuntimeException unforeseen) {
            unforeseen.printStackTrace();
            connection.close();
        }
    }

    private void deal(ServerSocketChannel listener) {
        try {
            for (var channel = listener.accept(); channel != null; channel = listener.accept()) {
                channel.configureBlocking(false);
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                var loop = all.get(turn++ % all.size());
                loop.dealt.add(channel);
                loop.selector.wakeup();
            }
        } catch (IOException refused) {
            System.err.println("a connection could not be accepted: " + refused.getMessage());
        }
    }

    /** Closes what has been idle for too long; when stopping, whatever is idle, and the listening socket. */
    private void sweep(long now) throws IOException {
        for (var key : selector.keys()) {
            if (!(key.attachment() instanceof Connection connection)) {
                if (stopping) {
                    key.channel().close();
                }
            } else if (connection.isIdle() && (stopping || now - connection.usedAt() > KEEP_ALIVE_S * 1_000_000_000L)) {
                connection.close();
            }
        }
    }
}
