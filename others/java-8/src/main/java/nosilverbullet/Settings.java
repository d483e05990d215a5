package nosilverbullet;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** C50, read once. */
final class Settings {
    final InetAddress host;
    final int port;
    final Login database;
    final int poolSize;
    final int acquireTimeoutMs;
    final URI upstream;
    final int upstreamTimeoutMs;
    final int serverThreads;
    final int backlog;

    /** How to reach the database: {@code url} is JDBC's and has no password in it. */
    static final class Login {
        final String url;
        final String user;
        final String password;

        Login(String url, String user, String password) {
            this.url = url;
            this.user = user;
            this.password = password;
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

    private Settings(Map<String, String> environment) {
        host = host(get(environment, "HOST", "127.0.0.1"));
        port = number(environment, "PORT", 8080, 1, 65535);
        database = database(get(environment, "DATABASE_URL", ""));
        // Checked like everything else; what the JVM makes of it is decided by its command line (C66).
        int workers = number(environment, "WORKERS", Runtime.getRuntime().availableProcessors(), 1, 1024);
        poolSize = number(environment, "DB_POOL_SIZE", 150, workers, 10_000);
        acquireTimeoutMs = number(environment, "DB_ACQUIRE_TIMEOUT_MS", 60_000, 1, 3_600_000);
        upstream = upstream(get(environment, "UPSTREAM_URL", "http://127.0.0.1:9000"));
        upstreamTimeoutMs = number(environment, "UPSTREAM_TIMEOUT_MS", 70_000, 1, 3_600_000);
        serverThreads = number(environment, "SERVER_THREADS", 200, 1, 100_000);
        backlog = grantedBacklog();
    }

    static Settings from(Map<String, String> environment) {
        return new Settings(environment);
    }

    private static String get(Map<String, String> environment, String name, String otherwise) {
        String value = environment.get(name);
        return value == null || value.isEmpty() ? otherwise : value;
    }

    private static int number(Map<String, String> environment, String name, int otherwise, int least, int most) {
        String value = get(environment, name, String.valueOf(otherwise));
        long number = Parameters.whole(value);
        if (number < least || number > most) {
            throw new Wrong(name + "=\"" + value + "\" is not a whole number from " + least + " to " + most);
        }
        return (int) number;
    }

    private static InetAddress host(String value) {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getByName(value))) {
            return probe.getInetAddress();
        } catch (IOException unbindable) {
            throw new Wrong("HOST=\"" + value + "\" is not an address to bind");
        }
    }

    private static Login database(String value) {
        String form = "mysql://user:password@host:port/database";
        if (value.isEmpty()) {
            throw new Wrong("DATABASE_URL=\"\" is not set: it must be " + form);
        }
        Matcher parts = DATABASE.matcher(value);
        if (parts.matches() && (parts.group(4) == null || isPort(parts.group(4)))) {
            String port = parts.group(4) == null ? "3306" : parts.group(4);
            try {
                decode(parts.group(5)); // the driver does it again
                String url = "jdbc:mysql://" + parts.group(3) + ":" + port + "/" + parts.group(5);
                return new Login(url, decode(parts.group(1)), decode(parts.group(2)));
            } catch (IllegalArgumentException notPercentEncoded) {
                // is said below
            }
        }
        // A password may be anywhere before the last @, and in all of it where there is none.
        String shown = "***" + value.substring(value.indexOf('@') < 0 ? value.length() : value.lastIndexOf('@'));
        throw new Wrong("DATABASE_URL=\"" + shown + "\" is not " + form + ", percent-encoded");
    }

    private static URI upstream(String value) {
        Matcher parts = UPSTREAM.matcher(value);
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
        return Parameters.urlDecode(value.replace("+", "%2B"));
    }

    /** C62: what the kernel grants, at most 4096. */
    private static int grantedBacklog() {
        try {
            List<String> granted = Files.readAllLines(Paths.get("/proc/sys/net/core/somaxconn"));
            return Math.min(4096, Integer.parseInt(granted.get(0)));
        } catch (IOException notLinux) {
            return 4096;
        }
    }
}
