package nosilverbullet;

import com.mysql.cj.jdbc.Driver;
import com.zaxxer.hikari.HikariDataSource;
import java.lang.management.ManagementFactory;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.catalina.util.ServerInfo;
import org.apache.coyote.AbstractProtocol;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** C1 to C4: what the harness asks. */
@RestController
class Service {
    record Status(String status) {}

    record Running(
            String runtime,
            String runtimeVersion,
            String framework,
            String frameworkVersion,
            String server,
            String driver,
            String driverVersion,
            String concurrencyModel,
            String handledBy,
            int workers,
            int poolSize,
            boolean cancelsOnDisconnect,
            Effective settings) {}

    record Effective(
            int backlog,
            int keepAliveS,
            Integer maxConnections,
            Integer serverThreads,
            long dbAcquireTimeoutMs,
            String dbStatements,
            int upstreamTimeoutMs,
            Integer upstreamMaxConnections,
            int upstreamIdleS,
            String offload,
            long heapMaxMib,
            String gc) {}

    record Counters(long requestsTotal, double busySecondsTotal, long inFlight, int poolInUse, int poolWaiting) {}

    private static final Status OK = new Status("ok");
    private static final int READY_WITHIN_MS = 1500; // C2 allows 2000

    private final Settings settings;
    private final Stats stats;
    private final Database database;
    private final HikariDataSource pool;
    private final ExecutorService threads;
    private final ServletWebServerApplicationContext context;

    Service(
            Settings settings,
            Stats stats,
            Database database,
            HikariDataSource pool,
            ExecutorService threads,
            ServletWebServerApplicationContext context) {
        this.settings = settings;
        this.stats = stats;
        this.database = database;
        this.pool = pool;
        this.threads = threads;
        this.context = context;
    }

    @GetMapping("/healthz")
    Status healthz() {
        return OK;
    }

    /** In a thread of its own, because the pool knows one acquire limit only, and that is longer. */
    @GetMapping("/readyz")
    Status readyz() throws InterruptedException {
        var answer = threads.submit(database::ping);
        try {
            answer.get(READY_WITHIN_MS, TimeUnit.MILLISECONDS);
            return OK;
        } catch (TimeoutException late) {
            throw Problem.database(late);
        } catch (ExecutionException failure) {
            throw failure.getCause() instanceof Problem problem ? problem : Problem.internal(failure.getCause());
        } finally {
            answer.cancel(true);
        }
    }

    /** Asked from those it is about, not repeated from the settings. */
    @GetMapping("/runtime")
    Running runtime() {
        return new Running(
                "Java",
                System.getProperty("java.version"),
                "Spring Boot (MVC)",
                SpringBootVersion.getVersion(),
                ServerInfo.getServerInfo(),
                "MySQL Connector/J",
                Driver.class.getPackage().getImplementationVersion(),
                Thread.currentThread().isVirtual() ? "virtual threads" : "platform threads",
                Thread.currentThread().getName(),
                Thread.currentThread().isVirtual()
                        ? Integer.getInteger("jdk.virtualThreadScheduler.parallelism")
                        : Runtime.getRuntime().availableProcessors(),
                pool.getMaximumPoolSize(),
                false, // servlets are not told (C40)
                effective());
    }

    private Effective effective() {
        var server = (TomcatWebServer) context.getWebServer();
        var http = (AbstractProtocol<?>) server.getTomcat().getConnector().getProtocolHandler();
        var statements = pool.getDataSourceProperties().getProperty("useServerPrepStmts");
        return new Effective(
                http.getAcceptCount(),
                http.getKeepAliveTimeout() / 1000,
                http.getMaxConnections() < 0 ? null : http.getMaxConnections(),
                Thread.currentThread().isVirtual() ? null : http.getMaxThreads(),
                pool.getConnectionTimeout(),
                Boolean.parseBoolean(statements) ? "prepared" : "text",
                settings.upstreamTimeoutMs(),
                null,
                Fanout.IDLE_S,
                "none needed",
                ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getMax() >> 20,
                ManagementFactory.getGarbageCollectorMXBeans()
                        .getFirst()
                        .getName()
                        .split(" ")[0]); // "G1 Young …"
    }

    @GetMapping("/stats")
    Counters stats() {
        return new Counters(
                stats.requests(), stats.busySeconds(), stats.inFlight(), database.inUse(), database.waiting());
    }
}
