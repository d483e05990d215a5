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
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** C1 to C4: what the harness asks. */
@RestController
@RequestMapping(produces = MediaType.APPLICATION_JSON_VALUE)
class Service {
    record Status(String status) {}

    private static final Status OK = new Status("ok");
    private static final int READY_WITHIN_MS = 1500; // C2 allows 2000

    private final Settings settings;
    private final Stats stats;
    private final HikariDataSource pool;
    private final Database database;
    private final ExecutorService threads;
    private final ServletWebServerApplicationContext context;

    Service(
            Settings settings,
            Stats stats,
            HikariDataSource pool,
            Database database,
            ExecutorService threads,
            ServletWebServerApplicationContext context) {
        this.settings = settings;
        this.stats = stats;
        this.pool = pool;
        this.database = database;
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
        } catch (TimeoutException | ExecutionException away) {
            throw Database.away();
        } finally {
            answer.cancel(true);
        }
    }

    /** Asked from those it is about, not repeated from the settings. */
    @GetMapping("/runtime")
    ObjectNode runtime() {
        var thread = Thread.currentThread();
        int carriers = Integer.getInteger("jdk.virtualThreadScheduler.parallelism");
        return JsonNodeFactory.instance
                .objectNode()
                .put("runtime", "Java")
                .put("runtime_version", System.getProperty("java.version"))
                .put("framework", "Spring Boot (MVC)")
                .put("framework_version", SpringBootVersion.getVersion())
                .put("server", ServerInfo.getServerInfo())
                .put("driver", "MySQL Connector/J")
                .put("driver_version", Driver.class.getPackage().getImplementationVersion())
                .put("concurrency_model", thread.isVirtual() ? "virtual threads" : "platform threads")
                .put("handled_by", thread.getName())
                .put(
                        "workers",
                        thread.isVirtual() ? carriers : Runtime.getRuntime().availableProcessors())
                .put("pool_size", pool.getMaximumPoolSize())
                .put("cancels_on_disconnect", false) // servlets are not told (C40)
                .set("settings", effective(thread.isVirtual()));
    }

    private ObjectNode effective(boolean virtual) {
        var server = (TomcatWebServer) context.getWebServer();
        var http = (AbstractProtocol<?>) server.getTomcat().getConnector().getProtocolHandler();
        var collector =
                ManagementFactory.getGarbageCollectorMXBeans().getFirst().getName(); // "G1 Young Generation"
        return JsonNodeFactory.instance
                .objectNode()
                .put("backlog", http.getAcceptCount())
                .put("keep_alive_s", http.getKeepAliveTimeout() / 1000)
                .put("max_connections", http.getMaxConnections() < 0 ? null : http.getMaxConnections())
                .put("server_threads", virtual ? null : http.getMaxThreads())
                .put("db_acquire_timeout_ms", pool.getConnectionTimeout())
                .put("db_statements", settings.preparedStatements() ? "prepared" : "text")
                .put("upstream_timeout_ms", settings.upstreamTimeoutMs())
                .putNull("upstream_max_connections")
                .put("upstream_idle_s", Fanout.IDLE_S)
                .put("offload", "none needed")
                .put("heap_max_mib", Runtime.getRuntime().maxMemory() >> 20)
                .put("gc", collector.split(" ")[0]);
    }

    @GetMapping("/stats")
    Stats.Counters stats() {
        var lent = pool.getHikariPoolMXBean();
        return stats.read(lent.getActiveConnections(), lent.getThreadsAwaitingConnection());
    }
}
