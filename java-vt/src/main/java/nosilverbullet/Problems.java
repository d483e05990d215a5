package nosilverbullet;

import com.fasterxml.jackson.annotation.JsonIncludeProperties;
import java.net.URI;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.jackson.JacksonMixin;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;
import org.springframework.web.HttpRequestMethodNotSupportedException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.NoHandlerFoundException;
import org.springframework.web.util.DisconnectedClientHelper;

/** C30: the one mapping from errors to answers, the framework's own included. */
@RestControllerAdvice
class Problems {
    static final Logger LOG = LoggerFactory.getLogger(Problems.class);

    /** No instance, which Spring would add. */
    @JacksonMixin(ProblemDetail.class)
    @JsonIncludeProperties({"type", "title", "status", "detail"})
    private interface Keys {}

    /** An error with an answer of its own (C31 to C38), to be thrown where it is found. */
    static ErrorResponseException of(HttpStatus status, String detail) {
        var problem = new ErrorResponseException(status, ProblemDetail.forStatusAndDetail(status, detail), null);
        problem.getBody().setType(URI.create("about:blank"));
        problem.getHeaders().setContentType(MediaType.APPLICATION_PROBLEM_JSON);
        return problem;
    }

    @ExceptionHandler
    ErrorResponseException answer(Throwable cause) {
        return switch (cause) {
            case ErrorResponseException expected -> expected;
            case NoHandlerFoundException unknown -> of(HttpStatus.NOT_FOUND, "nothing is here"); // C31
            case HttpRequestMethodNotSupportedException wrong -> { // C32
                var problem = of(HttpStatus.METHOD_NOT_ALLOWED, "the method is not allowed here");
                var allow = wrong.getHeaders().getFirst(HttpHeaders.ALLOW); // without the HEAD that GET brings along
                problem.getHeaders().set(HttpHeaders.ALLOW, allow.replace("GET", "GET, HEAD"));
                yield problem;
            }
            // Nobody is there to be answered.
            case Throwable gone when DisconnectedClientHelper.isClientDisconnectedException(gone) -> null;
            default -> {
                LOG.error("internal error", cause);
                yield of(HttpStatus.INTERNAL_SERVER_ERROR, "internal error"); // C39
            }
        };
    }
}
