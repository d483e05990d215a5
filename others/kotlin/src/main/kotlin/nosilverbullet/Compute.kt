package nosilverbullet

import jakarta.servlet.http.HttpServletRequest
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.RestController

data class Computed(val rounds: Int, val result: Long) : Answer

data class Blocked(val blockedMs: Int, val offloaded: Boolean) : Answer

/** C12, C13: requests that keep their thread busy. */
@RestController
class Compute {
    @GetMapping("/compute")
    fun compute(request: HttpServletRequest): Computed {
        val rounds = request.number("rounds", 1..10_000_000)
        var x = 2_463_534_242L.toInt()
        repeat(rounds) {
            x = x xor (x shl 13)
            x = x xor (x ushr 17)
            x = x xor (x shl 5)
        }
        return Computed(rounds, Integer.toUnsignedLong(x))
    }

    /** The thread is the request's own, so there is nothing to take the sleep away from: both ways are one. */
    @GetMapping("/block")
    fun block(request: HttpServletRequest): Blocked {
        val ms = request.number("ms", 0..1000)
        val offload = request.second("offload", "false", "true")
        Thread.sleep(ms.toLong())
        return Blocked(ms, offload)
    }
}
