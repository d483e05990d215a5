package nosilverbullet

import jakarta.servlet.http.HttpServletRequest
import org.springframework.http.MediaType
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.RestController

data class Slept(val sleptMs: Int) : Answer

data class SleptNow(val sleptMs: Int, val now: String) : Answer

data class Queried(val queriedMs: Int) : Answer

/** C5 to C8: requests that do nothing, or wait. */
@RestController
class Waiting(private val database: Database) {
    @GetMapping(path = ["/hello"], produces = [MediaType.TEXT_PLAIN_VALUE])
    fun hello() = "hello"

    @GetMapping("/sleep")
    fun sleep(request: HttpServletRequest): Slept {
        val ms = request.ms()
        Thread.sleep(ms.toLong())
        return Slept(ms)
    }

    @GetMapping("/sleep-query")
    fun sleepQuery(request: HttpServletRequest): SleptNow {
        val ms = request.ms()
        Thread.sleep(ms.toLong())
        return SleptNow(ms, database.now())
    }

    @GetMapping("/slow-query")
    fun slowQuery(request: HttpServletRequest): Queried {
        val ms = request.ms()
        database.sleep(ms)
        return Queried(ms)
    }
}
