package nosilverbullet;

import org.springframework.http.HttpHeaders;

/** An error that is part of the contract (C31 to C39), thrown where it is found and answered by {@link Problems}. */
final class Problem extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** RFC 9457, keys in the order of C30. */
    static final class Document {
        final String type = "about:blank";
        final String title;
        final int status;
        final String detail;

        Document(String title, int status, String detail) {
            this.title = title;
            this.status = status;
            this.detail = detail;
        }
    }

    private final int status;
    private final String title;
    private final transient HttpHeaders headers = new HttpHeaders();

    private Problem(int status, String title, String detail, Throwable cause) {
        super(detail, cause, false, false); // an answer, not a surprise: nobody reads its stack trace
        this.status = status;
        this.title = title;
    }

    private Problem with(String header, String value) {
        headers.set(header, value);
        return this;
    }

    Document document() {
        return new Document(title, status, getMessage());
    }

    HttpHeaders headers() {
        return headers;
    }

    static Problem notFound(String detail) {
        return new Problem(404, "Not Found", detail, null);
    }

    static Problem methodNotAllowed(String allow) {
        return new Problem(405, "Method Not Allowed", "the method is not allowed here", null)
                .with(HttpHeaders.ALLOW, allow);
    }

    static Problem unsupportedMediaType() {
        return new Problem(415, "Unsupported Media Type", "the body must be application/json", null);
    }

    static Problem contentTooLarge() {
        return new Problem(413, "Content Too Large", "the body must not exceed 65536 bytes", null);
    }

    static Problem badRequest(String detail) {
        return new Problem(400, "Bad Request", detail, null);
    }

    static Problem unprocessableContent() {
        return new Problem(422, "Unprocessable Content", "name must be a string of 1 to 255 characters", null);
    }

    static Problem upgradeRequired() {
        return new Problem(426, "Upgrade Required", "upgrade to a WebSocket", null)
                .with(HttpHeaders.UPGRADE, "websocket")
                .with(HttpHeaders.CONNECTION, "Upgrade"); // RFC 9110 asks for it beside Upgrade
    }

    static Problem upstream(Throwable cause) {
        return new Problem(502, "Bad Gateway", "the upstream did not answer", cause);
    }

    static Problem database(Throwable cause) {
        return new Problem(503, "Service Unavailable", "the database did not answer", cause);
    }

    static Problem internal(Throwable cause) {
        return new Problem(500, "Internal Server Error", "internal error", cause);
    }

    /** What another thread threw: one of ours, or a surprise. */
    static Problem of(Throwable cause) {
        return cause instanceof Problem ? (Problem) cause : internal(cause);
    }
}
