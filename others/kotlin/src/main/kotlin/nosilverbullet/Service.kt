package nosilverbullet

import com.mysql.cj.jdbc.Driver
import com.zaxxer.hikari.HikariDataSource
import org.apache.catalina.util.ServerInfo
import org.apache.coyote.AbstractProtocol
import org.springframework.boot.SpringBootVersion
import org.springframework.boot.tomcat.TomcatWebServer
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.RestController
import java.lang.management.ManagementFactory
import java.util.concurrent.ExecutionException
import java.util.concurrent.ExecutorService
import java.util.concurrent.TimeUnit.MILLISECONDS
import java.util.concurrent.TimeoutException

data class Status(val status: String) : Answer

data class Running(
    val runtime: String,
    val runtimeVersion: String,
    val framework: String,
    val frameworkVersion: String,
    val server: String,
    val driver: String,
    val driverVersion: String?,
    val concurrencyModel: String,
    val handledBy: String,
    val workers: Int,
    val poolSize: Int,
    val cancelsOnDisconnect: Boolean,
    val settings: Effective,
) : Answer

data class Effective(
    val backlog: Int,
    val keepAliveS: Int,
    val maxConnections: Int?,
    val serverThreads: Int,
    val dbAcquireTimeoutMs: Long,
    val dbStatements: String,
    val upstreamTimeoutMs: Int,
    val upstreamMaxConnections: Int?,
    val upstreamIdleS: Long,
    val offload: String,
    val heapMaxMib: Long,
    val gc: String,
)

data class Counters(
    val requestsTotal: Long,
    val busySecondsTotal: Double,
    val inFlight: Long,
    val poolInUse: Int,
    val poolWaiting: Int,
) : Answer

private val OK = Status("ok")
private const val READY_WITHIN_MS = 1500L // C2 allows 2000

/** C1 to C4: what the harness asks. */
@RestController
class Service(
    private val settings: Settings,
    private val stats: Stats,
    private val database: Database,
    private val pool: HikariDataSource,
    private val upstream: Upstream,
    private val threads: ExecutorService,
    private val context: ServletWebServerApplicationContext,
) {
    @GetMapping("/healthz")
    fun healthz() = OK

    /** In a thread of its own, because the pool knows one acquire limit only, and that is longer. */
    @GetMapping("/readyz")
    fun readyz(): Status {
        val answer = threads.submit(database::ping)
        try {
            answer.get(READY_WITHIN_MS, MILLISECONDS)
            return OK
        } catch (late: TimeoutException) {
            throw Problem.database(late)
        } catch (failure: ExecutionException) {
            throw failure.cause as? Problem ?: Problem.internal(failure.cause)
        } finally {
            answer.cancel(true)
        }
    }

    /** Asked from those it is about, not repeated from the settings. */
    @GetMapping("/runtime")
    fun runtime() = Running(
        runtime = "Java",
        runtimeVersion = System.getProperty("java.version"),
        framework = "Spring Boot (MVC)",
        frameworkVersion = SpringBootVersion.getVersion(),
        server = ServerInfo.getServerInfo(),
        driver = "MySQL Connector/J",
        driverVersion = Driver::class.java.`package`.implementationVersion,
        concurrencyModel = "platform threads, fan-out by ${upstream.overlap}",
        handledBy = Thread.currentThread().name,
        workers = Runtime.getRuntime().availableProcessors(),
        poolSize = pool.maximumPoolSize,
        cancelsOnDisconnect = false, // servlets are not told (C40)
        settings = effective(),
    )

    private fun effective(): Effective {
        val server = context.webServer as TomcatWebServer
        val http = server.tomcat.connector.protocolHandler as AbstractProtocol<*>
        val prepares = pool.dataSourceProperties.getProperty("useServerPrepStmts").toBoolean()
        return Effective(
            backlog = http.acceptCount,
            keepAliveS = http.keepAliveTimeout / 1000,
            maxConnections = http.maxConnections.takeIf { it >= 0 },
            serverThreads = http.maxThreads,
            dbAcquireTimeoutMs = pool.connectionTimeout,
            dbStatements = if (prepares) "prepared" else "text",
            upstreamTimeoutMs = settings.upstreamTimeoutMs,
            upstreamMaxConnections = null,
            upstreamIdleS = UPSTREAM_IDLE.toSeconds(),
            offload = "none needed",
            heapMaxMib = ManagementFactory.getMemoryMXBean().heapMemoryUsage.max shr 20,
            gc = ManagementFactory.getGarbageCollectorMXBeans().first().name.substringBefore(' '), // "G1 Young …"
        )
    }

    @GetMapping("/stats")
    fun stats() =
        Counters(stats.requests(), stats.busySeconds(), stats.inFlight(), database.inUse(), database.waiting())
}
