package nosilverbullet

import org.apache.hc.client5.http.ConnectionKeepAliveStrategy
import org.apache.hc.client5.http.config.ConnectionConfig
import org.apache.hc.core5.util.TimeValue
import org.apache.hc.core5.util.Timeout
import java.net.URI
import java.time.Duration

/** Calls of the upstream. The contenders differ in how those of one request overlap, and in nothing else. */
interface Upstream : AutoCloseable {
    /** In words, for /runtime. */
    val overlap: String

    /** How many of the calls completed: all of them, or it throws [Problem.upstream] (C37). */
    fun atOnce(calls: Int, uri: URI): Int

    fun oneByOne(calls: Int, uri: URI): Int
}

/** C63 */
val UPSTREAM_IDLE: Duration = Duration.ofDays(1)

val KEPT = ConnectionKeepAliveStrategy { _, _ -> TimeValue.of(UPSTREAM_IDLE) }

fun connections(settings: Settings): ConnectionConfig = ConnectionConfig
    .custom()
    .setConnectTimeout(Timeout.ofMilliseconds(settings.upstreamTimeoutMs.toLong()))
    .build()
