package nosilverbullet;

import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.server.MethodNotAllowedException;
import org.springframework.web.server.ResponseStatusException;

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

    /** The only one that Spring throws by itself. */
    @ExceptionHandler
    ResponseEntity<ProblemDetail> unknownPath(ResponseStatusException unknown) {
        return expected(new Problem(HttpStatus.NOT_FOUND, "nothing is here")); // C31
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> wrongMethod(MethodNotAllowedException wrong) {
        // Spring knows that GET brings HEAD along, but does not say it.
        var allow = wrong.getSupportedMethods().stream().map(HttpMethod::name).collect(Collectors.joining(", "));
        return expected(methodNotAllowed(allow.replace("GET", "GET, HEAD")));
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> unexpected(Throwable cause) {
        LOG.error("internal error", cause);
        return expected(new Problem(HttpStatus.INTERNAL_SERVER_ERROR, "internal error")); // C39
    }

    static Problem methodNotAllowed(String allow) {
        return new Problem(HttpStatus.METHOD_NOT_ALLOWED, "the method is not allowed here")
                .with(HttpHeaders.ALLOW, allow); // C32
    }
}
