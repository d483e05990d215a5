package nosilverbullet

import jakarta.servlet.http.HttpServletRequest
import java.net.URLDecoder

// C22: what a request may ask for.

private val WHOLE = Regex("0|[1-9][0-9]{0,17}")
private const val LARGEST_ID = 9_007_199_254_740_991

fun HttpServletRequest.number(name: String, bounds: IntRange): Int = whole(once(name))?.takeIf { it in bounds }?.toInt()
    ?: throw Problem.badRequest(
        "$name must be given once, as a whole number from ${bounds.first} to ${bounds.last}",
    )

fun HttpServletRequest.ms(): Int = number("ms", 0..60_000)

/** Whether it is the second of two words. */
fun HttpServletRequest.second(name: String, first: String, second: String): Boolean = when (once(name)) {
    first -> false
    second -> true
    else -> throw Problem.badRequest("$name must be given once, as $first or $second")
}

fun id(segment: String): Long = whole(segment)?.takeIf { it in 1..LARGEST_ID }
    ?: throw Problem.badRequest("id must be a whole number from 1 to $LARGEST_ID")

/** Null where the text is none. */
fun whole(text: String): Long? = if (WHOLE.matches(text)) text.toLong() else null

/**
 * The value, or "" where it is missing or given twice. Tomcat's own getParameter refuses the request where another
 * parameter is wrongly encoded, but unknown ones are ignored.
 */
private fun HttpServletRequest.once(name: String): String {
    val pairs = queryString?.split('&').orEmpty().map { it.substringBefore('=') to it.substringAfter('=', "") }
    val (_, value) = pairs.filter { (key, _) -> decode(key) == name }.singleOrNull() ?: return ""
    return decode(value)
}

private fun decode(text: String) = try {
    if ('%' in text) URLDecoder.decode(text, Charsets.UTF_8) else text
} catch (_: IllegalArgumentException) {
    text // not percent-encoded
}
