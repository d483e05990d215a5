package nosilverbullet

import jakarta.servlet.http.HttpServletRequest
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.RestController

data class Fanned(val calls: Int, val mode: String, val completed: Int) : Answer

/** C11 */
@RestController
class Fanout(private val settings: Settings, private val upstream: Upstream) {
    @GetMapping("/fanout")
    fun fanout(request: HttpServletRequest): Fanned {
        val calls = request.number("calls", 1..1000)
        val ms = request.ms()
        val sequential = request.second("mode", "concurrent", "sequential")
        val uri = settings.upstream.resolve("/delay?ms=$ms")
        return when {
            sequential -> Fanned(calls, "sequential", upstream.oneByOne(calls, uri))
            else -> Fanned(calls, "concurrent", upstream.atOnce(calls, uri))
        }
    }
}
