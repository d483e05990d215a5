package nosilverbullet;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** C50, read once; those of a database and an upstream are not read, for neither is used. */
record Settings(InetAddress host, int port, int workers, int backlog) {

    /** C42: a sentence that names variable and value. */
    static final class Wrong extends RuntimeException {
        private static final long serialVersionUID = 1;

        Wrong(String sentence) {
            super(sentence);
        }
    }

    static Settings from(Map<String, String> environment) {
        number(environment, "SERVER_THREADS", 200, 1, 100_000); // checked as everywhere, used by none here
        return new Settings(
                host(get(environment, "HOST", "127.0.0.1")),
                number(environment, "PORT", 8080, 1, 65535),
                number(environment, "WORKERS", Runtime.getRuntime().availableProcessors(), 1, 1024),
                grantedBacklog());
    }

    private static String get(Map<String, String> environment, String name, String otherwise) {
        var value = environment.get(name);
        return value == null || value.isEmpty() ? otherwise : value;
    }

    private static int number(Map<String, String> environment, String name, int otherwise, int least, int most) {
        var value = get(environment, name, String.valueOf(otherwise));
        int number = value.matches("0|[1-9][0-9]{0,8}") ? Integer.parseInt(value) : -1;
        if (number < least || number > most) {
            throw new Wrong(name + "=\"" + value + "\" is not a whole number from " + least + " to " + most);
        }
        return number;
    }

    private static InetAddress host(String value) {
        try (var probe = new ServerSocket(0, 1, InetAddress.getByName(value))) {
            return probe.getInetAddress();
        } catch (IOException unbindable) {
            throw new Wrong("HOST=\"" + value + "\" is not an address to bind");
        }
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
