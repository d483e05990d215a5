package nosilverbullet;

import com.fasterxml.jackson.annotation.JsonIncludeProperties;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.jackson.JacksonMixin;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.HttpRequestMethodNotSupportedException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.NoHandlerFoundException;
import org.springframework.web.util.DisconnectedClientHelper;

/** C30: the one mapping from errors to answers, the framework's own included. */
@RestControllerAdvice
class Problems {
    private static final Logger LOG = LoggerFactory.getLogger(Problems.class);

    /** No instance, which Spring would add. */
    @JacksonMixin(ProblemDetail.class)
    @JsonIncludeProperties({"type", "title", "status", "detail"})
    private interface Keys {}

    @ExceptionHandler
    Problem answer(Throwable cause) {
        return switch (cause) {
            case Problem expected -> expected;
            case NoHandlerFoundException unknown -> new Problem(HttpStatus.NOT_FOUND, "nothing is here"); // C31
            // Spring knows that GET brings HEAD along, but does not say it.
            case HttpRequestMethodNotSupportedException wrong ->
                methodNotAllowed(String.join(", ", wrong.getSupportedMethods()).replace("GET", "GET, HEAD"));
            // Nobody is there to be answered.
            case Throwable gone when DisconnectedClientHelper.isClientDisconnectedException(gone) -> null;
            default -> {
                LOG.error("internal error", cause);
                yield new Problem(HttpStatus.INTERNAL_SERVER_ERROR, "internal error"); // C39
            }
        };
    }

    static Problem methodNotAllowed(String allow) {
        return new Problem(HttpStatus.METHOD_NOT_ALLOWED, "the method is not allowed here")
                .with(HttpHeaders.ALLOW, allow); // C32
    }
}
