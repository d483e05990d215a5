package nosilverbullet;

import com.fasterxml.jackson.annotation.JsonIncludeProperties;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.jackson.JacksonMixin;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.server.MethodNotAllowedException;
import org.springframework.web.server.ResponseStatusException;

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
            // Spring knows that GET brings HEAD along, but does not say it.
            case MethodNotAllowedException wrong ->
                methodNotAllowed(wrong.getHeaders().getFirst(HttpHeaders.ALLOW).replace("GET", "GET, HEAD"));
            case ResponseStatusException unknown -> new Problem(HttpStatus.NOT_FOUND, "nothing is here"); // C31
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
