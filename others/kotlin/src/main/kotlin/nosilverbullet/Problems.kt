package nosilverbullet

import org.slf4j.LoggerFactory
import org.springframework.http.MediaType
import org.springframework.http.ResponseEntity
import org.springframework.web.HttpRequestMethodNotSupportedException
import org.springframework.web.bind.annotation.ExceptionHandler
import org.springframework.web.bind.annotation.RestControllerAdvice
import org.springframework.web.servlet.NoHandlerFoundException
import org.springframework.web.util.DisconnectedClientHelper

/** C30: the one mapping from errors to answers, the framework's own included. */
@RestControllerAdvice
class Problems {
    private val log = LoggerFactory.getLogger(javaClass)

    @ExceptionHandler
    fun expected(problem: Problem): ResponseEntity<Problem.Document> {
        if (problem.document.status == 500) {
            log.error("internal error", problem.cause)
        }
        return answer(problem)
    }

    @ExceptionHandler(NoHandlerFoundException::class)
    fun unknownPath() = answer(Problem.notFound("nothing is here"))

    @ExceptionHandler
    fun wrongMethod(wrong: HttpRequestMethodNotSupportedException): ResponseEntity<Problem.Document> {
        // Spring knows that GET brings HEAD along, but does not say it
        val allowed = wrong.supportedMethods.orEmpty().joinToString(", ").replace("GET", "GET, HEAD")
        return answer(Problem.methodNotAllowed(allowed))
    }

    /** Null where nobody is there to be answered. */
    @ExceptionHandler
    fun unexpected(cause: Exception): ResponseEntity<Problem.Document>? =
        if (DisconnectedClientHelper.isClientDisconnectedException(cause)) null else expected(Problem.internal(cause))

    private fun answer(problem: Problem): ResponseEntity<Problem.Document> = ResponseEntity
        .status(problem.document.status)
        .contentType(MediaType.APPLICATION_PROBLEM_JSON)
        .headers { it.setAll(problem.headers) }
        .body(problem.document)
}
