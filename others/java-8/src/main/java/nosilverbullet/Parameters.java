package nosilverbullet;

import java.io.UnsupportedEncodingException;
import java.net.URLDecoder;
import java.util.regex.Pattern;
import javax.servlet.http.HttpServletRequest;

/** C22: what a request may ask for. */
final class Parameters {
    private static final Pattern WHOLE = Pattern.compile("0|[1-9][0-9]{0,17}");

    private Parameters() {}

    static int number(HttpServletRequest request, String name, int least, int most) {
        long number = whole(once(request, name));
        if (number < least || number > most) {
            throw Problem.badRequest(name + " must be given once, as a whole number from " + least + " to " + most);
        }
        return (int) number;
    }

    static int ms(HttpServletRequest request) {
        return number(request, "ms", 0, 60_000);
    }

    /** Whether it is the second of two words. */
    static boolean second(HttpServletRequest request, String name, String first, String second) {
        String value = once(request, name);
        if (!value.equals(first) && !value.equals(second)) {
            throw Problem.badRequest(name + " must be given once, as " + first + " or " + second);
        }
        return value.equals(second);
    }

    static long id(String segment) {
        long id = whole(segment);
        if (id < 1 || id > 9_007_199_254_740_991L) {
            throw Problem.badRequest("id must be a whole number from 1 to 9007199254740991");
        }
        return id;
    }

    /** The number, or -1 where the text is none. */
    static long whole(String text) {
        return WHOLE.matcher(text).matches() ? Long.parseLong(text) : -1;
    }

    /**
     * The value, or "" where it is missing or given twice. Tomcat's own getParameter refuses the request where another
     * parameter is wrongly encoded, but unknown ones are ignored.
     */
    private static String once(HttpServletRequest request, String name) {
        String query = request.getQueryString();
        String found = "";
        boolean again = false;
        for (String pair : query == null ? new String[0] : query.split("&")) {
            int end = pair.indexOf('=') < 0 ? pair.length() : pair.indexOf('=');
            if (decode(pair.substring(0, end)).equals(name)) {
                if (again) {
                    return "";
                }
                again = true;
                found = decode(pair.substring(Math.min(end + 1, pair.length())));
            }
        }
        return found;
    }

    private static String decode(String text) {
        try {
            return text.indexOf('%') < 0 ? text : urlDecode(text);
        } catch (IllegalArgumentException notPercentEncoded) {
            return text;
        }
    }

    /** As JDK 8 has it, which takes a charset by its name only. */
    static String urlDecode(String text) {
        try {
            return URLDecoder.decode(text, "UTF-8");
        } catch (UnsupportedEncodingException everyJvmHasIt) {
            throw new AssertionError(everyJvmHasIt);
        }
    }
}
