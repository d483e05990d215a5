package nosilverbullet;

import com.mysql.cj.jdbc.Driver;
import com.zaxxer.hikari.HikariDataSource;
import java.lang.management.ManagementFactory;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.catalina.util.ServerInfo;
import org.apache.coyote.AbstractProtocol;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.web.embedded.tomcat.TomcatWebServer;
import org.springframework.boot.web.servlet.context.ServletWebServerApplicationContext;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** C1 to C4: what the harness asks. */
@RestController
class Service {
    static final class Status {
        final String status = "ok";
    }

    /** Asked from those it is about, not repeated from the settings. */
    static final class Running {
        final String runtime = "Java";
        final String runtimeVersion = System.getProperty("java.version");
        final String framework = "Spring Boot (MVC)";
        final String frameworkVersion = SpringBootVersion.getVersion();
        final String server = ServerInfo.getServerInfo();
        final String driver = "MySQL Connector/J";
        final String driverVersion = Driver.class.getPackage().getImplementationVersion();
        final String concurrencyModel = "platform threads";
        final String handledBy = Thread.currentThread().getName();
        final int workers = Runtime.getRuntime().availableProcessors();
        final int poolSize;
        final boolean cancelsOnDisconnect = false; // servlets are not told (C40)
        final Effective settings;

        Running(int poolSize, Effective settings) {
            this.poolSize = poolSize;
            this.settings = settings;
        }
    }

    static final class Effective {
        final int backlog;
        final int keepAliveS;
        final Integer maxConnections;
        final int serverThreads;
        final long dbAcquireTimeoutMs;
        final String dbStatements;
        final int upstreamTimeoutMs;
        final Integer upstreamMaxConnections = null;
        final int upstreamIdleS = Fanout.IDLE_S;
        final String offload = "none needed";
        final long heapMaxMib =
                ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getMax() >> 20;
        final String gc =
                ManagementFactory.getGarbageCollectorMXBeans().get(0).getName().split(" ")[0]; // "G1 Young …"

        Effective(AbstractProtocol<?> http, HikariDataSource pool, Settings settings) {
            backlog = http.getAcceptCount();
            keepAliveS = http.getKeepAliveTimeout() / 1000;
            maxConnections = http.getMaxConnections() < 0 ? null : http.getMaxConnections();
            serverThreads = http.getMaxThreads();
            dbAcquireTimeoutMs = pool.getConnectionTimeout();
            String prepared = pool.getDataSourceProperties().getProperty("useServerPrepStmts");
            dbStatements = Boolean.parseBoolean(prepared) ? "prepared" : "text";
            upstreamTimeoutMs = settings.upstreamTimeoutMs;
        }
    }

    static final class Counters {
        final long requestsTotal;
        final double busySecondsTotal;
        final long inFlight;
        final int poolInUse;
        final int poolWaiting;

        Counters(Stats stats, Database database) {
            requestsTotal = stats.requests();
            busySecondsTotal = stats.busySeconds();
            inFlight = stats.inFlight();
            poolInUse = database.inUse();
            poolWaiting = database.waiting();
        }
    }

    private static final Status OK = new Status();
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
        Future<?> answer = threads.submit(database::ping);
        try {
            answer.get(READY_WITHIN_MS, TimeUnit.MILLISECONDS);
            return OK;
        } catch (TimeoutException late) {
            throw Problem.database(late);
        } catch (ExecutionException failure) {
            throw Problem.of(failure.getCause());
        } finally {
            answer.cancel(true);
        }
    }

    @GetMapping("/runtime")
    Running runtime() {
        TomcatWebServer server = (TomcatWebServer) context.getWebServer();
        AbstractProtocol<?> http =
                (AbstractProtocol<?>) server.getTomcat().getConnector().getProtocolHandler();
        return new Running(pool.getMaximumPoolSize(), new Effective(http, pool, settings));
    }

    @GetMapping("/stats")
    Counters stats() {
        return new Counters(stats, database);
    }
}
