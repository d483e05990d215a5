package nosilverbullet;

import java.io.IOException;

/** Starts the server; SIGTERM and SIGINT end the JVM by way of its shutdown hooks (C41). */
final class Main {
    private static final int GRACE_MS = 7_000; // C41 allows 8 s for everything

    private Main() {}

    public static void main(String[] arguments) throws IOException {
        try {
            var server = Server.start(Settings.from(System.getenv()));
            Runtime.getRuntime().addShutdownHook(new Thread(() -> server.stop(GRACE_MS)));
        } catch (Settings.Wrong wrong) {
            System.err.println(wrong.getMessage()); // C42
            System.exit(2);
        }
    }
}
