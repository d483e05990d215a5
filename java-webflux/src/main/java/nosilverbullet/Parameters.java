package nosilverbullet;

import java.util.List;
import java.util.function.Function;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.ServerHttpRequest;

/** C22: what a request may ask for. */
final class Parameters {
    private static final long MAX_ID = 9_007_199_254_740_991L;

    private Parameters() {}

    static int ms(ServerHttpRequest request) {
        return number(request, "ms", 0, 60_000);
    }

    static int number(ServerHttpRequest request, String name, int least, int most) {
        return (int) whole(once(request, name), least, most, expected -> wrong(name, "given once, as " + expected));
    }

    static String word(ServerHttpRequest request, String name, String... words) {
        return oneOf(once(request, name), List.of(words), expected -> wrong(name, "given once, as " + expected));
    }

    static long id(String segment) {
        return whole(segment, 1, MAX_ID, expected -> wrong("id", expected));
    }

    /** ASCII {@code 0|[1-9][0-9]*} within the bounds; else the error that {@code wrong} makes of the words for it. */
    static long whole(String text, long least, long most, Function<String, RuntimeException> wrong) {
        try {
            long number = Long.parseLong(text);
            if (number >= least && number <= most && text.equals(Long.toString(number))) {
                return number;
            }
        } catch (NumberFormatException none) {
            // as wrong as one out of bounds
        }
        throw wrong.apply("a whole number from " + least + " to " + most);
    }

    /** One of these words; else the error as above. */
    static String oneOf(String text, List<String> words, Function<String, RuntimeException> wrong) {
        if (!words.contains(text)) {
            throw wrong.apply(String.join(", ", words).replaceFirst(", ([^,]+)$", " or $1"));
        }
        return text;
    }

    private static Problem wrong(String name, String expected) {
        return new Problem(HttpStatus.BAD_REQUEST, name + " must be " + expected); // C35
    }

    /** The value, or "" where it is missing or given twice. */
    private static String once(ServerHttpRequest request, String name) {
        var values = request.getQueryParams().get(name);
        return values != null && values.size() == 1 && values.getFirst() != null ? values.getFirst() : "";
    }
}
