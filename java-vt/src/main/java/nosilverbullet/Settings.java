package nosilverbullet;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Pattern;

/** C50, read once. */
record Settings(
        InetAddress host,
        int port,
        Login database,
        int poolSize,
        int acquireTimeoutMs,
        URI upstream,
        int upstreamTimeoutMs,
        int workers,
        int serverThreads,
        boolean virtualThreads,
        boolean preparedStatements,
        int backlog) {

    /** How to reach the database: {@code url} is JDBC's and has no password in it. */
    record Login(String url, String user, String password) {
        @Override
        public String toString() {
            return url;
        }
    }

    /** C42: a sentence that names variable and value. */
    static final class Wrong extends RuntimeException {
        private static final long serialVersionUID = 1;

        Wrong(String sentence) {
            super(sentence);
        }
    }

    private static final String HOST = "(\\[[0-9A-Fa-f:.]+\\]|[0-9A-Za-z._-]+)";
    private static final Pattern DATABASE =
            Pattern.compile("mysql://([^:@/?#]+):([^:@/?#]*)@" + HOST + "(?::([0-9]+))?/([^/?#]+)");
    private static final Pattern UPSTREAM = Pattern.compile("http://" + HOST + ":([0-9]+)");

    static Settings from(Map<String, String> environment) {
        var host = host(get(environment, "HOST", "127.0.0.1"));
        int port = number(environment, "PORT", 8080, 1, 65535);
        var database = database(get(environment, "DATABASE_URL", ""));
        int workers = number(environment, "WORKERS", Runtime.getRuntime().availableProcessors(), 1, 1024);
        return new Settings(
                host,
                port,
                database,
                number(environment, "DB_POOL_SIZE", 150, workers, 10_000),
                number(environment, "DB_ACQUIRE_TIMEOUT_MS", 60_000, 1, 3_600_000),
                upstream(get(environment, "UPSTREAM_URL", "http://127.0.0.1:9000")),
                number(environment, "UPSTREAM_TIMEOUT_MS", 70_000, 1, 3_600_000),
                workers,
                number(environment, "SERVER_THREADS", 200, 1, 100_000),
                oneOf(environment, "VIRTUAL_THREADS", "true", "false").equals("true"),
                oneOf(environment, "DB_STATEMENTS", "prepared", "text").equals("prepared"),
                grantedBacklog());
    }

    private static String get(Map<String, String> environment, String name, String otherwise) {
        var value = environment.get(name);
        return value == null || value.isEmpty() ? otherwise : value;
    }

    private static int number(Map<String, String> environment, String name, int otherwise, int least, int most) {
        var value = get(environment, name, String.valueOf(otherwise));
        long number = Parameters.whole(value);
        if (number < least || number > most) {
            throw new Wrong(name + "=\"" + value + "\" is not a whole number from " + least + " to " + most);
        }
        return (int) number;
    }

    private static String oneOf(Map<String, String> environment, String name, String usual, String other) {
        var value = get(environment, name, usual);
        if (!value.equals(usual) && !value.equals(other)) {
            throw new Wrong(name + "=\"" + value + "\" is not " + usual + " or " + other);
        }
        return value;
    }

    private static InetAddress host(String value) {
        try (var probe = new ServerSocket(0, 1, InetAddress.getByName(value))) {
            return probe.getInetAddress();
        } catch (IOException unbindable) {
            throw new Wrong("HOST=\"" + value + "\" is not an address to bind");
        }
    }

    private static Login database(String value) {
        var form = "mysql://user:password@host:port/database";
        if (value.isEmpty()) {
            throw new Wrong("DATABASE_URL=\"\" is not set: it must be " + form);
        }
        var parts = DATABASE.matcher(value);
        if (parts.matches() && (parts.group(4) == null || isPort(parts.group(4)))) {
            var port = parts.group(4) == null ? "3306" : parts.group(4);
            try {
                decode(parts.group(5)); // the driver does it again
                var url = "jdbc:mysql://" + parts.group(3) + ":" + port + "/" + parts.group(5);
                return new Login(url, decode(parts.group(1)), decode(parts.group(2)));
            } catch (IllegalArgumentException notPercentEncoded) {
                // is said below
            }
        }
        // A password may be anywhere before the last @, and in all of it where there is none.
        var shown = "***" + value.substring(value.indexOf('@') < 0 ? value.length() : value.lastIndexOf('@'));
        throw new Wrong("DATABASE_URL=\"" + shown + "\" is not " + form + ", percent-encoded");
    }

    private static URI upstream(String value) {
        var parts = UPSTREAM.matcher(value);
        if (!parts.matches() || !isPort(parts.group(2))) {
            throw new Wrong("UPSTREAM_URL=\"" + value + "\" is not http://host:port");
        }
        return URI.create(value);
    }

    private static boolean isPort(String value) {
        long port = Parameters.whole(value);
        return port >= 1 && port <= 65535;
    }

    private static String decode(String value) {
        return URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    /** C62: what the kernel grants, at most 4096. */
    private static int grantedBacklog() {
        try {
            // Not readString: it asks for one byte first, and a sysctl gives an answer only once.
            var granted = Files.readAllLines(Path.of("/proc/sys/net/core/somaxconn"));
            return Math.min(4096, Integer.parseInt(granted.getFirst()));
        } catch (IOException notLinux) {
            return 4096;
        }
    }
}
