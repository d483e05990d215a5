package nosilverbullet;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.HttpRequestMethodNotSupportedException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.NoHandlerFoundException;
import org.springframework.web.util.DisconnectedClientHelper;

/** C30: the one mapping from errors to answers, the framework's own included. */
@RestControllerAdvice
class Problems {
    private static final Logger LOG = LoggerFactory.getLogger(Problems.class);

    @ExceptionHandler
    ResponseEntity<ProblemDetail> expected(Problem problem) {
        return ResponseEntity.status(problem.getStatusCode())
                .headers(problem.getHeaders())
                .contentType(MediaType.APPLICATION_PROBLEM_JSON)
                .body(problem.getBody());
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> unknownPath(NoHandlerFoundException unknown) {
        return expected(new Problem(HttpStatus.NOT_FOUND, "nothing is here")); // C31
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> wrongMethod(HttpRequestMethodNotSupportedException wrong) {
        // Spring knows that GET brings HEAD along, but does not say it.
        var allow = String.join(", ", wrong.getSupportedMethods()).replace("GET", "GET, HEAD");
        return expected(methodNotAllowed(allow));
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> unexpected(Throwable cause) {
        if (DisconnectedClientHelper.isClientDisconnectedException(cause)) {
            return null; // nobody is there to be answered
        }
        LOG.error("internal error", cause);
        return expected(new Problem(HttpStatus.INTERNAL_SERVER_ERROR, "internal error")); // C39
    }

    static Problem methodNotAllowed(String allow) {
        return new Problem(HttpStatus.METHOD_NOT_ALLOWED, "the method is not allowed here")
                .with(HttpHeaders.ALLOW, allow); // C32
    }
}
