package nosilverbullet;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;

/** An error with its own answer. */
final class Problem extends RuntimeException {

    private static final long serialVersionUID = 1;

    final HttpStatus status;
    final transient HttpHeaders headers = new HttpHeaders();

    Problem(HttpStatus status, String detail) {
        super(detail, null, false, false); // expected, so nobody reads its stack trace
        this.status = status;
    }

    private Problem with(String header, String value) {
        headers.set(header, value);
        return this;
    }

    static Problem notFound(String detail) {
        return new Problem(HttpStatus.NOT_FOUND, detail); // C31
    }

    static Problem methodNotAllowed(String allow) {
        return new Problem(HttpStatus.METHOD_NOT_ALLOWED, "the method is not allowed here")
                .with(HttpHeaders.ALLOW, allow); // C32
    }

    static Problem notJson() {
        return new Problem(HttpStatus.UNSUPPORTED_MEDIA_TYPE, "the body must be application/json"); // C33
    }

    static Problem tooLarge() {
        return new Problem(
                HttpStatus.CONTENT_TOO_LARGE, "the body must not exceed " + Books.MAX_BODY_BYTES + " bytes"); // C34
    }

    static Problem badRequest(String detail) {
        return new Problem(HttpStatus.BAD_REQUEST, detail); // C35
    }

    static Problem wrongName() {
        return new Problem(HttpStatus.UNPROCESSABLE_CONTENT, "name must be a string of 1 to 255 characters"); // C36
    }

    static Problem upgradeRequired() {
        return new Problem(HttpStatus.UPGRADE_REQUIRED, "upgrade to a WebSocket")
                .with(HttpHeaders.UPGRADE, "websocket")
                .with(HttpHeaders.CONNECTION, "Upgrade"); // C24; RFC 9110 asks for Connection beside Upgrade
    }

    static Problem upstreamSilent() {
        return new Problem(HttpStatus.BAD_GATEWAY, "the upstream did not answer"); // C37
    }

    static Problem databaseSilent() {
        return new Problem(HttpStatus.SERVICE_UNAVAILABLE, "the database did not answer"); // C38
    }
}
