package nosilverbullet;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** C50, read once. */
record Settings(
        InetAddress host,
        int port,
        String database,
        int poolSize,
        int acquireTimeoutMs,
        String upstream,
        int upstreamTimeoutMs,
        int workers,
        int serverThreads,
        String databaseClient,
        boolean upstreamHandover) {

    /** C42: a sentence that names variable and value. */
    static final class Wrong extends RuntimeException {
        private static final long serialVersionUID = 1;

        private Wrong(String variable, String value, String expected) {
            super("%s=\"%s\" is not %s".formatted(variable, value, expected));
        }
    }

    private static final String HOST = "(?:\\[[0-9A-Fa-f:.]+]|[0-9A-Za-z._-]+)";
    private static final String ENCODED = "(?:[^:@/?#%]|%[0-9A-Fa-f]{2})+"; // the driver decodes it
    private static final Pattern DATABASE_URL =
            Pattern.compile("mysql://" + ENCODED + ":(?:" + ENCODED + ")?@" + HOST + "(?::([0-9]+))?/" + ENCODED);
    private static final Pattern UPSTREAM_URL = Pattern.compile("http://" + HOST + ":([0-9]+)");

    static Settings from(Map<String, String> environment) {
        int workers = number(environment, "WORKERS", Runtime.getRuntime().availableProcessors(), 1, 1024);
        return new Settings(
                host(text(environment, "HOST", "127.0.0.1")),
                number(environment, "PORT", 8080, 1, 65_535),
                database(text(environment, "DATABASE_URL", "")),
                number(environment, "DB_POOL_SIZE", 150, workers, 10_000),
                number(environment, "DB_ACQUIRE_TIMEOUT_MS", 60_000, 1, 3_600_000),
                upstream(text(environment, "UPSTREAM_URL", "http://127.0.0.1:9000")),
                number(environment, "UPSTREAM_TIMEOUT_MS", 70_000, 1, 3_600_000),
                workers,
                number(environment, "SERVER_THREADS", 200, 1, 100_000),
                word(environment, "DB_CLIENT", "r2dbc", "jdbc", "jdbc-offloaded", "jdbc-hop"),
                word(environment, "UPSTREAM_HANDOVER", "false", "true").equals("true"));
    }

    private static String text(Map<String, String> environment, String variable, String otherwise) {
        var value = environment.getOrDefault(variable, "");
        return value.isEmpty() ? otherwise : value;
    }

    private static int number(Map<String, String> environment, String variable, int otherwise, int least, int most) {
        var value = text(environment, variable, Integer.toString(otherwise));
        long number = Parameters.whole(value, least, most);
        if (number < 0) {
            throw new Wrong(variable, value, "a whole number from " + least + " to " + most);
        }
        return (int) number;
    }

    /** One of these words, the first where it is not set. */
    private static String word(Map<String, String> environment, String variable, String... words) {
        var value = text(environment, variable, words[0]);
        if (!List.of(words).contains(value)) {
            throw new Wrong(variable, value, Parameters.either(words));
        }
        return value;
    }

    private static InetAddress host(String value) {
        try (var probe = new ServerSocket(0, 1, InetAddress.getByName(value))) {
            return probe.getInetAddress();
        } catch (IOException unbindable) {
            throw new Wrong("HOST", value, "an address to bind");
        }
    }

    private static String database(String value) {
        var parts = DATABASE_URL.matcher(value);
        if (!parts.matches() || parts.group(1) != null && Parameters.whole(parts.group(1), 1, 65_535) < 0) {
            // A password may be anywhere in it.
            throw new Wrong("DATABASE_URL", "***", "mysql://user:password@host:port/database");
        }
        return value;
    }

    private static String upstream(String value) {
        var parts = UPSTREAM_URL.matcher(value);
        if (!parts.matches() || Parameters.whole(parts.group(1), 1, 65_535) < 0) {
            throw new Wrong("UPSTREAM_URL", value, "http://host:port");
        }
        return value;
    }
}
