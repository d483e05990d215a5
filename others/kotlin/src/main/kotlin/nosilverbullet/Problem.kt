package nosilverbullet

import org.springframework.http.HttpHeaders

/** An error that is part of the contract (C31 to C39), thrown where it is found and answered by [Problems]. */
class Problem private constructor(
    status: Int,
    title: String,
    detail: String,
    cause: Throwable? = null,
    val headers: Map<String, String> = emptyMap(),
) : RuntimeException(detail, cause, false, false) { // an answer, not a surprise: nobody reads its stack trace

    /** RFC 9457, keys in the order of C30. */
    data class Document(val type: String, val title: String, val status: Int, val detail: String) : Answer

    val document = Document("about:blank", title, status, detail)

    companion object {
        fun notFound(detail: String) = Problem(404, "Not Found", detail)

        fun methodNotAllowed(allow: String) = Problem(
            405,
            "Method Not Allowed",
            "the method is not allowed here",
            headers = mapOf(HttpHeaders.ALLOW to allow),
        )

        fun unsupportedMediaType() = Problem(415, "Unsupported Media Type", "the body must be application/json")

        fun contentTooLarge() = Problem(413, "Content Too Large", "the body must not exceed $LARGEST_BODY bytes")

        fun badRequest(detail: String) = Problem(400, "Bad Request", detail)

        fun unprocessableContent() =
            Problem(422, "Unprocessable Content", "name must be a string of 1 to 255 characters")

        fun upgradeRequired() = Problem(
            426,
            "Upgrade Required",
            "upgrade to a WebSocket",
            // RFC 9110 asks for Connection beside Upgrade
            headers = mapOf(HttpHeaders.UPGRADE to "websocket", HttpHeaders.CONNECTION to "Upgrade"),
        )

        fun upstream(cause: Throwable? = null) = Problem(502, "Bad Gateway", "the upstream did not answer", cause)

        fun database(cause: Throwable?) = Problem(503, "Service Unavailable", "the database did not answer", cause)

        fun internal(cause: Throwable?) = Problem(500, "Internal Server Error", "internal error", cause)
    }
}
