package nosilverbullet;

import org.apache.catalina.connector.ClientAbortException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.HttpRequestMethodNotSupportedException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.NoHandlerFoundException;

/** C30: the one mapping from errors to answers, the framework's own included. */
@RestControllerAdvice
class Problems {
    private static final Logger LOG = LoggerFactory.getLogger(Problems.class);

    @ExceptionHandler
    ResponseEntity<Problem.Document> expected(Problem problem) {
        if (problem.document().status == 500) {
            LOG.error("internal error", problem.getCause());
        }
        return answer(problem);
    }

    @ExceptionHandler
    ResponseEntity<Problem.Document> unknownPath(NoHandlerFoundException unknown) {
        return answer(Problem.notFound("nothing is here"));
    }

    @ExceptionHandler
    ResponseEntity<Problem.Document> wrongMethod(HttpRequestMethodNotSupportedException wrong) {
        // Spring knows that GET brings HEAD along, but does not say it.
        String allow = String.join(", ", wrong.getSupportedMethods()).replace("GET", "GET, HEAD");
        return answer(Problem.methodNotAllowed(allow));
    }

    @ExceptionHandler
    void gone(ClientAbortException gone) {
        // nobody is there to be answered
    }

    @ExceptionHandler
    ResponseEntity<Problem.Document> unexpected(Exception cause) {
        return expected(Problem.internal(cause));
    }

    private static ResponseEntity<Problem.Document> answer(Problem problem) {
        Problem.Document document = problem.document();
        return ResponseEntity.status(document.status)
                .headers(problem.headers())
                .contentType(MediaType.APPLICATION_PROBLEM_JSON)
                .body(document);
    }
}
