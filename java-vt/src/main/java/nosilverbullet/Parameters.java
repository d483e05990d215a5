package nosilverbullet;

import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import java.util.function.Function;
import org.springframework.http.HttpStatus;

/** C22: what a request may ask for. */
final class Parameters {
    private Parameters() {}

    static int ms(HttpServletRequest request) {
        return number(request, "ms", 0, 60_000);
    }

    static int number(HttpServletRequest request, String name, int least, int most) {
        return (int) whole(once(request, name), least, most, expected -> wrong(name, "given once, as " + expected));
    }

    static String word(HttpServletRequest request, String name, String... words) {
        var word = once(request, name);
        if (!List.of(words).contains(word)) {
            throw wrong(name, "given once, as " + String.join(", ", words).replaceFirst(", ([^,]+)$", " or $1"));
        }
        return word;
    }

    static long id(String segment) {
        return whole(segment, 1, 9_007_199_254_740_991L, expected -> wrong("id", expected));
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

    private static RuntimeException wrong(String name, String expected) {
        return Problems.of(HttpStatus.BAD_REQUEST, name + " must be " + expected); // C35
    }

    /** The value, or "" where it is missing or given twice. */
    private static String once(HttpServletRequest request, String name) {
        try {
            var values = request.getParameterValues(name);
            return values != null && values.length == 1 ? values[0] : "";
        } catch (IllegalStateException notPercentEncoded) {
            return "";
        }
    }
}
