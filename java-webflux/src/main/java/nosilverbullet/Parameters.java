package nosilverbullet;

import java.util.List;
import java.util.OptionalLong;
import org.springframework.util.MultiValueMap;

/** Parameters of the query and the path (C22). */
final class Parameters {

    static final int MAX_WAIT_MS = 60_000;
    static final int MIN_INTERVAL_MS = 10;
    static final int MAX_BLOCK_MS = 1000;
    static final int MAX_CALLS = 1000;
    static final int MAX_ROUNDS = 10_000_000;
    static final long MAX_ID = 9_007_199_254_740_991L;

    private static final int MAX_DIGITS = 16;

    private Parameters() {}

    static int ms(MultiValueMap<String, String> query, int most) {
        return whole(query, "ms", 0, most);
    }

    static int intervalMs(MultiValueMap<String, String> query) {
        return whole(query, "interval_ms", MIN_INTERVAL_MS, MAX_WAIT_MS);
    }

    static int calls(MultiValueMap<String, String> query) {
        return whole(query, "calls", 1, MAX_CALLS);
    }

    static int rounds(MultiValueMap<String, String> query) {
        return whole(query, "rounds", 1, MAX_ROUNDS);
    }

    static long id(String text) {
        return wholeNumber(text, 1, MAX_ID)
                .orElseThrow(() -> Problem.badRequest("id must be a whole number from 1 to " + MAX_ID));
    }

    /** One of two words. */
    static String choice(MultiValueMap<String, String> query, String name, String one, String other) {
        var text = once(query, name);
        if (one.equals(text) || other.equals(text)) {
            return text;
        }
        throw Problem.badRequest("%s must be given once, as %s or %s".formatted(name, one, other));
    }

    /** {@code 0|[1-9][0-9]*} within bounds, else empty. */
    static OptionalLong wholeNumber(String text, long least, long most) {
        if (text == null
                || text.isEmpty()
                || text.length() > MAX_DIGITS
                || text.charAt(0) == '0' && text.length() > 1) {
            return OptionalLong.empty();
        }
        long number = 0;
        for (int i = 0; i < text.length(); i++) {
            var digit = text.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return OptionalLong.empty();
            }
            number = number * 10 + digit;
        }
        return number < least || number > most ? OptionalLong.empty() : OptionalLong.of(number);
    }

    private static int whole(MultiValueMap<String, String> query, String name, int least, int most) {
        return (int) wholeNumber(once(query, name), least, most)
                .orElseThrow(() -> Problem.badRequest(
                        "%s must be given once, as a whole number from %d to %d".formatted(name, least, most)));
    }

    private static String once(MultiValueMap<String, String> query, String name) {
        List<String> values = query.get(name);
        return values != null && values.size() == 1 ? values.getFirst() : null;
    }
}
