package nosilverbullet;

import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.util.MultiValueMap;

/** C22: what a request may ask for. */
final class Parameters {
    private static final long MAX_ID = 9_007_199_254_740_991L;

    private Parameters() {}

    static int ms(MultiValueMap<String, String> query) {
        return number(query, "ms", 0, 60_000);
    }

    static int number(MultiValueMap<String, String> query, String name, int least, int most) {
        long number = whole(once(query, name), least, most);
        if (number < 0) {
            throw wrong("%s must be given once, as a whole number from %d to %d".formatted(name, least, most));
        }
        return (int) number;
    }

    /** One of these words. */
    static String word(MultiValueMap<String, String> query, String name, String... words) {
        var value = once(query, name);
        if (!List.of(words).contains(value)) {
            throw wrong(name + " must be given once, as " + either(words));
        }
        return value;
    }

    static long id(String segment) {
        long id = whole(segment, 1, MAX_ID);
        if (id < 0) {
            throw wrong("id must be a whole number from 1 to " + MAX_ID);
        }
        return id;
    }

    /** ASCII {@code 0|[1-9][0-9]*} within the bounds, else -1. */
    static long whole(String text, long least, long most) {
        try {
            long number = Long.parseLong(text);
            return number >= least && number <= most && text.equals(Long.toString(number)) ? number : -1;
        } catch (NumberFormatException none) {
            return -1;
        }
    }

    static String either(String... words) {
        return String.join(", ", words).replaceFirst(", ([^,]+)$", " or $1");
    }

    private static Problem wrong(String detail) {
        return new Problem(HttpStatus.BAD_REQUEST, detail); // C35
    }

    /** The value, or "" where it is missing or given twice. */
    private static String once(MultiValueMap<String, String> query, String name) {
        var values = query.get(name);
        return values != null && values.size() == 1 && values.getFirst() != null ? values.getFirst() : "";
    }
}
