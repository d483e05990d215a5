package nosilverbullet;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
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
        int serverThreads) {
    private static final String ADDRESS = "(?:\\[[0-9A-Fa-f:.]+]|[0-9A-Za-z._-]+)";
    private static final String PORT = ":([1-9][0-9]{0,4})";
    private static final String ENCODED = "(?:[^:@/?#%]|%[0-9A-Fa-f]{2})+"; // the driver decodes it
    private static final Pattern DATABASE_URL =
            Pattern.compile("mysql://" + ENCODED + ":(?:" + ENCODED + ")?@" + ADDRESS + "(?:" + PORT + ")?/" + ENCODED);
    private static final Pattern UPSTREAM_URL = Pattern.compile("http://" + ADDRESS + PORT);

    /** C42: a sentence that names variable and value, but of DATABASE_URL, where a password may be anywhere. */
    static final class Wrong extends RuntimeException {
        private Wrong(String variable, String value, String expected) {
            super("%s=\"%s\" is not %s".formatted(variable, variable.equals("DATABASE_URL") ? "***" : value, expected));
        }
    }

    static Settings from(Map<String, String> environment) {
        int workers = number(environment, "WORKERS", Runtime.getRuntime().availableProcessors(), 1, 1024);
        return new Settings(
                host(text(environment, "HOST", "127.0.0.1")),
                number(environment, "PORT", 8080, 1, 65_535),
                url(environment, "DATABASE_URL", "", DATABASE_URL, "mysql://user:password@host:port/database"),
                number(environment, "DB_POOL_SIZE", 150, workers, 10_000),
                number(environment, "DB_ACQUIRE_TIMEOUT_MS", 60_000, 1, 3_600_000),
                url(environment, "UPSTREAM_URL", "http://127.0.0.1:9000", UPSTREAM_URL, "http://host:port"),
                number(environment, "UPSTREAM_TIMEOUT_MS", 70_000, 1, 3_600_000),
                workers,
                number(environment, "SERVER_THREADS", 200, 1, 100_000));
    }

    private static String text(Map<String, String> environment, String variable, String otherwise) {
        var value = environment.getOrDefault(variable, "");
        return value.isEmpty() ? otherwise : value;
    }

    private static int number(Map<String, String> environment, String variable, int otherwise, int least, int most) {
        var value = text(environment, variable, "" + otherwise);
        return (int) Parameters.whole(value, least, most, expected -> new Wrong(variable, value, expected));
    }

    private static InetAddress host(String value) {
        try (var probe = new ServerSocket(0, 1, InetAddress.getByName(value))) {
            return probe.getInetAddress();
        } catch (IOException unbindable) {
            throw new Wrong("HOST", value, "an address to bind");
        }
    }

    private static String url(
            Map<String, String> environment, String variable, String otherwise, Pattern form, String expected) {
        var value = text(environment, variable, otherwise);
        var parts = form.matcher(value);
        if (!parts.matches() || parts.group(1) != null && Integer.parseInt(parts.group(1)) > 65_535) {
            throw new Wrong(variable, value, expected);
        }
        return value;
    }
}
