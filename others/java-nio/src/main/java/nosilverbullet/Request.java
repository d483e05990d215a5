package nosilverbullet;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** The head of a request; {@code method} is null where it is not HTTP. {@code last}: the connection ends with the answer. */
record Request(String method, String path, long bodyBytes, boolean last) {
    static final int MOST_BYTES = 16 * 1024;

    private static final Request MALFORMED = new Request(null, "", 0, true);

    /** Takes one head from the buffer; null where it is not whole yet. */
    static Request read(ByteBuffer input) {
        int end = end(input);
        if (end < 0) {
            return input.remaining() == MOST_BYTES ? MALFORMED : null;
        }
        var head = new byte[end - input.position()];
        input.get(head);
        return parsed(new String(head, 0, head.length - 4, StandardCharsets.ISO_8859_1).split("\r\n", -1));
    }

    /** Behind the empty line, or -1. */
    private static int end(ByteBuffer input) {
        for (int at = input.position() + 3; at < input.limit(); at++) {
            if (input.get(at) == '\n'
                    && input.get(at - 1) == '\r'
                    && input.get(at - 2) == '\n'
                    && input.get(at - 3) == '\r') {
                return at + 1;
            }
        }
        return -1;
    }

    private static Request parsed(String[] lines) {
        var first = lines[0].split(" ", -1);
        if (first.length != 3 || first[0].isEmpty() || !first[2].equals("HTTP/1.1")) {
            return MALFORMED; // C62: HTTP/1.1 is all that is spoken here
        }
        long bodyBytes = 0;
        boolean last = false;
        for (int number = 1; number < lines.length; number++) {
            int colon = lines[number].indexOf(':');
            if (colon < 1) {
                return MALFORMED;
            }
            var value = lines[number].substring(colon + 1).strip();
            switch (lines[number].substring(0, colon).toLowerCase(Locale.ROOT)) {
                case "connection" -> last |= value.equalsIgnoreCase("close");
                case "content-length" -> {
                    if (!value.matches("[0-9]{1,15}")) {
                        return MALFORMED;
                    }
                    bodyBytes = Long.parseLong(value);
                }
                case "transfer-encoding" -> {
                    return MALFORMED; // no endpoint takes a body, so nobody learns here where a chunked one ends
                }
                default -> {
                    // nothing here depends on it
                }
            }
        }
        return new Request(first[0], first[1].split("\\?", 2)[0], bodyBytes, last);
    }
}
