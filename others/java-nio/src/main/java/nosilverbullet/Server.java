package nosilverbullet;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.util.ArrayList;
import java.util.List;

/** A listening socket and WORKERS selectors: the first one accepts, and deals the connections out to all in turn. */
final class Server {
    private final ServerSocketChannel listener;
    private final List<Loop> loops = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();

    private Server(ServerSocketChannel listener) {
        this.listener = listener;
    }

    static Server start(Settings settings) throws IOException {
        var listener = ServerSocketChannel.open();
        listener.bind(new InetSocketAddress(settings.host(), settings.port()), settings.backlog());
        listener.configureBlocking(false);

        var server = new Server(listener);
        var stats = new Stats();
        var routes = new Routes(new Service(settings, stats));
        for (int number = 1; number <= settings.workers(); number++) {
            var loop = new Loop(routes, stats);
            server.loops.add(loop);
            var thread = new Thread(loop, "selector-" + number);
            thread.setUncaughtExceptionHandler(Server::die);
            server.threads.add(thread);
        }
        server.loops.getFirst().accept(listener, server.loops);
        server.threads.forEach(Thread::start);
        return server;
    }

    /** A selector that is lost takes its connections with it: then better all, and seen. */
    private static void die(Thread thread, Throwable cause) {
        cause.printStackTrace();
        Runtime.getRuntime().halt(1);
    }

    int port() {
        return listener.socket().getLocalPort();
    }

    /** C41: accepts no more, finishes what is in flight, and returns by the deadline whether or not that is done. */
    void stop(int withinMs) {
        long deadline = System.nanoTime() + withinMs * 1_000_000L;
        loops.forEach(Loop::stop);
        try {
            for (var thread : threads) {
                thread.join(Math.max(1, (deadline - System.nanoTime()) / 1_000_000));
            }
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
        }
    }
}
