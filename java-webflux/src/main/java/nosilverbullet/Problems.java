package nosilverbullet;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** The one mapping from errors to answers (C30). */
@RestControllerAdvice
class Problems {

    private static final Logger LOG = LoggerFactory.getLogger(Problems.class);

    record Document(String type, String title, int status, String detail) {}

    @ExceptionHandler
    ResponseEntity<Document> expected(Problem problem) {
        return ResponseEntity.status(problem.status)
                .headers(problem.headers)
                .contentType(MediaType.APPLICATION_PROBLEM_JSON)
                .body(new Document(
                        "about:blank", problem.status.getReasonPhrase(), problem.status.value(), problem.getMessage()));
    }

    @ExceptionHandler
    ResponseEntity<Document> unexpected(Throwable cause) {
        LOG.error("internal error", cause); // C39
        return expected(new Problem(HttpStatus.INTERNAL_SERVER_ERROR, "internal error"));
    }
}
