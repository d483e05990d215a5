package nosilverbullet

import java.io.IOException
import java.net.InetAddress
import java.net.ServerSocket
import java.net.URI
import java.net.URLDecoder
import java.nio.file.Files
import java.nio.file.Path
import kotlin.math.min

/** C50, read once. */
data class Settings(
    val host: InetAddress,
    val port: Int,
    val database: Login,
    val poolSize: Int,
    val acquireTimeoutMs: Int,
    val upstream: URI,
    val upstreamTimeoutMs: Int,
    val workers: Int,
    val serverThreads: Int,
    /** How many threads the calls of all fan-outs share; null: they are coroutines. */
    val fanoutThreads: Int?,
    val backlog: Int,
) {
    /** How to reach the database: [url] is JDBC's and has no password in it. */
    class Login(val url: String, val user: String, val password: String)

    /** C42: a sentence that names variable and value. */
    class Wrong(sentence: String) : RuntimeException(sentence)

    companion object {
        private const val HOST = """(\[[0-9A-Fa-f:.]+]|[0-9A-Za-z._-]+)"""
        private const val DATABASE_FORM = "mysql://user:password@host:port/database"
        private val DATABASE = Regex("mysql://([^:@/?#]+):([^:@/?#]*)@$HOST(?::([0-9]+))?/([^/?#]+)")
        private val UPSTREAM = Regex("http://$HOST:([0-9]+)")
        private val PORTS = 1..65_535

        fun from(environment: Map<String, String>): Settings {
            val given = environment.filterValues { it.isNotEmpty() }
            val host = host(given["HOST"] ?: "127.0.0.1")
            val port = given.number("PORT", 8080, PORTS)
            val database = database(given["DATABASE_URL"])
            val workers = given.number("WORKERS", Runtime.getRuntime().availableProcessors(), 1..1024)
            return Settings(
                host = host,
                port = port,
                database = database,
                poolSize = given.number("DB_POOL_SIZE", 150, workers..10_000),
                acquireTimeoutMs = given.number("DB_ACQUIRE_TIMEOUT_MS", 60_000, 1..3_600_000),
                upstream = upstream(given["UPSTREAM_URL"] ?: "http://127.0.0.1:9000"),
                upstreamTimeoutMs = given.number("UPSTREAM_TIMEOUT_MS", 70_000, 1..3_600_000),
                workers = workers,
                serverThreads = given.number("SERVER_THREADS", 200, 1..100_000),
                fanoutThreads = fanoutThreads(given["FANOUT"] ?: "coroutines"),
                backlog = grantedBacklog(),
            )
        }

        private fun Map<String, String>.number(name: String, otherwise: Int, bounds: IntRange): Int {
            val value = this[name] ?: return otherwise.within(name, bounds)
            return whole(value)?.takeIf { it in bounds }?.toInt() ?: throw outOf(name, value, bounds)
        }

        /** A default may be too small as well: DB_POOL_SIZE where WORKERS is larger. */
        private fun Int.within(name: String, bounds: IntRange) =
            if (this in bounds) this else throw outOf(name, "$this", bounds)

        private fun outOf(name: String, value: String, bounds: IntRange) =
            Wrong("$name=\"$value\" is not a whole number from ${bounds.first} to ${bounds.last}")

        private fun fanoutThreads(value: String): Int? {
            if (value == "coroutines") {
                return null
            }
            return whole(value)?.takeIf { it in 1..10_000 }?.toInt()
                ?: throw Wrong("FANOUT=\"$value\" is not coroutines or a whole number from 1 to 10000")
        }

        private fun host(value: String) = try {
            ServerSocket(0, 1, InetAddress.getByName(value)).use { it.inetAddress }
        } catch (_: IOException) {
            throw Wrong("HOST=\"$value\" is not an address to bind")
        }

        private fun database(value: String?): Login {
            if (value == null) {
                throw Wrong("DATABASE_URL=\"\" is not set: it must be $DATABASE_FORM")
            }
            // A password may be anywhere before the last @, and in all of it where there is none.
            val shown = "***" + value.drop(value.lastIndexOf('@').takeIf { it >= 0 } ?: value.length)
            val wrong = Wrong("DATABASE_URL=\"$shown\" is not $DATABASE_FORM, percent-encoded")
            val (user, password, host, port, name) = DATABASE.matchEntire(value)?.destructured ?: throw wrong
            if (port.isNotEmpty() && !isPort(port)) {
                throw wrong
            }
            try {
                decode(name) // the driver does it again
                return Login("jdbc:mysql://$host:${port.ifEmpty { "3306" }}/$name", decode(user), decode(password))
            } catch (_: IllegalArgumentException) {
                throw wrong
            }
        }

        private fun upstream(value: String): URI {
            val port = UPSTREAM.matchEntire(value)?.groupValues?.last()
            if (port == null || !isPort(port)) {
                throw Wrong("UPSTREAM_URL=\"$value\" is not http://host:port")
            }
            return URI.create(value)
        }

        private fun isPort(value: String) = whole(value)?.let { it in PORTS } ?: false

        private fun decode(value: String) = URLDecoder.decode(value.replace("+", "%2B"), Charsets.UTF_8)

        /** C62: what the kernel grants, at most 4096. */
        private fun grantedBacklog() = try {
            // Not readText: it asks for the size first, and a sysctl has none.
            min(4096, Files.readAllLines(Path.of("/proc/sys/net/core/somaxconn")).first().toInt())
        } catch (_: IOException) {
            4096 // not Linux
        }
    }
}
