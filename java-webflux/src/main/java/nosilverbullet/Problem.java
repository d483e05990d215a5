package nosilverbullet;

import java.net.URI;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;

/** An error with an answer of its own (C31 to C38), thrown where it is found and answered by {@link Problems}. */
final class Problem extends ErrorResponseException {
    private static final long serialVersionUID = 1;

    Problem(HttpStatus status, String detail) {
        super(status, ProblemDetail.forStatusAndDetail(status, detail), null);
        getBody().setType(URI.create("about:blank"));
        getHeaders().setContentType(MediaType.APPLICATION_PROBLEM_JSON);
    }

    Problem with(String header, String value) {
        getHeaders().set(header, value);
        return this;
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
        return this; // expected, so nobody reads its stack trace
    }
}
