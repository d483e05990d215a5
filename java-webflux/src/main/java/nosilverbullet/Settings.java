package nosilverbullet;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What the environment says, read once (C50). */
record Settings(
        InetAddress host,
        int port,
        DatabaseUrl database,
        int poolSize,
        Duration acquireTimeout,
        String upstream,
        Duration upstreamTimeout,
        int workers,
        DatabaseClient databaseClient,
        boolean upstreamHandover) {

    /** Who asks the database, and on which thread: a setting of this service's own. */
    enum DatabaseClient {
        R2DBC("r2dbc", ""),
        JDBC("jdbc", ", JDBC on them"),
        JDBC_OFFLOADED("jdbc-offloaded", ", JDBC on boundedElastic"),
        JDBC_HOP("jdbc-hop", ", JDBC on them before a hop to boundedElastic");

        private final String word;
        final String aside;

        DatabaseClient(String word, String aside) {
            this.word = word;
            this.aside = aside;
        }
    }

    private static final int MAX_TIMEOUT_MS = 3_600_000;

    /** {@code mysql://user:password@host:port/database}, decoded. */
    record DatabaseUrl(String host, int port, String user, String password, String database) {

        private static final int DEFAULT_PORT = 3306;
        private static final Pattern SHAPE = Pattern.compile(
                "mysql://([^:@/?#]+)(?::([^:@/?#]*))?@(\\[[^]]+]|[^:@/?#\\[\\]]+)(?::([0-9]+))?/([^/?#]+)");

        static DatabaseUrl from(String text) {
            var parts = SHAPE.matcher(text);
            if (!parts.matches()) {
                throw new IllegalArgumentException("not the shape of a database URL");
            }
            var port = parts.group(4) == null
                    ? DEFAULT_PORT
                    : (int) Parameters.wholeNumber(parts.group(4), 1, 65535)
                            .orElseThrow(() -> new IllegalArgumentException("no port"));
            var password = parts.group(2) == null ? "" : decoded(parts.group(2));
            var host = parts.group(3).replaceAll("[\\[\\]]", "");
            return new DatabaseUrl(host, port, decoded(parts.group(1)), password, decoded(parts.group(5)));
        }

        private static String decoded(String text) {
            // URLDecoder reads a form, where "+" is a space; in a URL it is a plus.
            return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
        }

        @Override
        public String toString() {
            return "mysql://%s:***@%s:%d/%s".formatted(user, host, port, database);
        }
    }

    /** C42: its message names variable and value. */
    static final class Wrong extends RuntimeException {
        private static final long serialVersionUID = 1;

        Wrong(String variable, String value, String expected) {
            super("%s=\"%s\" is not %s".formatted(variable, value, expected));
        }

        Wrong(String sentence) {
            super(sentence);
        }
    }

    static Settings from(Map<String, String> environment) {
        var host = host(text(environment, "HOST", "127.0.0.1"));
        var port = whole(environment, "PORT", 8080, 1, 65535);
        var database = database(environment.getOrDefault("DATABASE_URL", ""));
        var workers = whole(environment, "WORKERS", Runtime.getRuntime().availableProcessors(), 1, 1024);
        var poolSize = whole(environment, "DB_POOL_SIZE", 150, workers, 10_000);
        var acquireTimeout = whole(environment, "DB_ACQUIRE_TIMEOUT_MS", 60_000, 1, MAX_TIMEOUT_MS);
        var upstream = upstream(text(environment, "UPSTREAM_URL", "http://127.0.0.1:9000"));
        var upstreamTimeout = whole(environment, "UPSTREAM_TIMEOUT_MS", 70_000, 1, MAX_TIMEOUT_MS);
        whole(environment, "SERVER_THREADS", 200, 1, 100_000); // unused here, checked everywhere
        return new Settings(
                host,
                port,
                database,
                poolSize,
                Duration.ofMillis(acquireTimeout),
                upstream,
                Duration.ofMillis(upstreamTimeout),
                workers,
                databaseClient(text(environment, "DB_CLIENT", "r2dbc")),
                flag(environment, "UPSTREAM_HANDOVER"));
    }

    private static String text(Map<String, String> environment, String variable, String otherwise) {
        var value = environment.getOrDefault(variable, "");
        return value.isEmpty() ? otherwise : value;
    }

    private static int whole(Map<String, String> environment, String variable, int otherwise, int least, int most) {
        var value = text(environment, variable, Integer.toString(otherwise));
        return (int) Parameters.wholeNumber(value, least, most)
                .orElseThrow(() -> new Wrong(variable, value, "a whole number from %d to %d".formatted(least, most)));
    }

    private static boolean flag(Map<String, String> environment, String variable) {
        var value = text(environment, variable, "false");
        if (!value.equals("false") && !value.equals("true")) {
            throw new Wrong(variable, value, "false or true");
        }
        return value.equals("true");
    }

    private static DatabaseClient databaseClient(String value) {
        return Stream.of(DatabaseClient.values())
                .filter(client -> client.word.equals(value))
                .findFirst()
                .orElseThrow(() -> new Wrong("DB_CLIENT", value, "r2dbc, jdbc, jdbc-offloaded or jdbc-hop"));
    }

    private static InetAddress host(String value) {
        try (var probe = new ServerSocket(0, 1, InetAddress.getByName(value))) {
            return probe.getInetAddress();
        } catch (IOException unbindable) {
            throw new Wrong("HOST", value, "an address to bind");
        }
    }

    private static DatabaseUrl database(String value) {
        if (value.isEmpty()) {
            throw new Wrong("DATABASE_URL must be set");
        }
        try {
            return DatabaseUrl.from(value);
        } catch (IllegalArgumentException wrong) {
            // Whatever stands before the last "@" may hold a password, which is never printed.
            var shown = value.replaceFirst("^(?:([^:/@]+://)?.*@)", "$1***@");
            throw new Wrong("DATABASE_URL", shown, "mysql://user:password@host:port/database");
        }
    }

    private static String upstream(String value) {
        try {
            var url = new URI(value);
            if ("http".equals(url.getScheme())
                    && url.getHost() != null
                    && url.getPort() >= 1
                    && url.getPort() <= 65535
                    && value.equals("http://" + url.getHost() + ":" + url.getPort())) {
                return value;
            }
        } catch (URISyntaxException malformed) {
            // the same answer as for every other wrong one
        }
        throw new Wrong("UPSTREAM_URL", value, "http://host:port");
    }
}
