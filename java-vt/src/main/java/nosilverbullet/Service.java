package nosilverbullet;

import com.mysql.cj.jdbc.Driver;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.catalina.util.ServerInfo;
import org.apache.coyote.AbstractProtocol;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.web.bind.annotation.GetMapping;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** C1 to C4: what the harness asks. */
@JsonController
record Service(
        Settings settings, Stats counts, Database database, ExecutorService threads, WebServerApplicationContext web) {
    record Status(String status) {}

    private static final Status OK = new Status("ok");
    private static final int READY_WITHIN_MS = 1500; // C2 allows 2000

    @GetMapping("/healthz")
    Status healthz() {
        return OK;
    }

    /** In a thread of its own, because the pool knows one acquire limit only, and that is longer. */
    @GetMapping("/readyz")
    Status readyz() throws InterruptedException {
        var ping = Executors.callable(database::ping, OK);
        try {
            return threads.invokeAny(List.of(ping), READY_WITHIN_MS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException away) {
            throw Database.away();
        }
    }

    /** Asked from those it is about, not repeated from the settings. */
    @GetMapping("/runtime")
    ObjectNode runtime() {
        var thread = Thread.currentThread();
        boolean virtual = thread.isVirtual();
        var model = virtual ? "virtual threads" : "platform threads";
        int carriers = Integer.getInteger("jdk.virtualThreadScheduler.parallelism");
        var environment = web.getEnvironment();
        boolean jdk = environment.getRequiredProperty("upstream.client").equals("jdk");
        var server = (TomcatWebServer) web.getWebServer();
        var http = (AbstractProtocol<?>) server.getTomcat().getConnector().getProtocolHandler();
        var collector = ManagementFactory.getGarbageCollectorMXBeans().getFirst(); // "G1 Young Generation"
        var runtime = JsonNodeFactory.instance
                .objectNode()
                .put("runtime", "Java")
                .put("runtime_version", System.getProperty("java.version"))
                .put("framework", "Spring Boot (MVC)")
                .put("framework_version", SpringBootVersion.getVersion())
                .put("server", ServerInfo.getServerInfo())
                .put("driver", "MySQL Connector/J" + (database.books() == database.client() ? "" : ", H2 for books"))
                .put("driver_version", Driver.class.getPackage().getImplementationVersion())
                .put("concurrency_model", model + (jdk ? ", the JDK's HttpClient" : ""))
                .put("handled_by", thread.getName())
                .put("workers", virtual ? carriers : Runtime.getRuntime().availableProcessors())
                .put("pool_size", database.pool().getMaximumPoolSize())
                .put("cancels_on_disconnect", false); // servlets are not told (C40)
        runtime.putObject("settings")
                .putNull("backlog") // as many of 4096 as the kernel grants (C62)
                .put("keep_alive_s", http.getKeepAliveTimeout() / 1000)
                .put("max_connections", http.getMaxConnections() == Integer.MAX_VALUE ? null : http.getMaxConnections())
                .put("server_threads", virtual ? null : http.getMaxThreads())
                .put("db_acquire_timeout_ms", database.pool().getConnectionTimeout())
                .put("db_statements", environment.getProperty("db.prepare", Boolean.class) ? "prepared" : "text")
                .put("upstream_timeout_ms", settings.upstreamTimeoutMs())
                .putNull("upstream_max_connections")
                .put("upstream_idle_s", jdk ? Integer.getInteger("jdk.httpclient.keepalive.timeout") : null)
                .put("offload", "none needed")
                .put("heap_max_mib", Runtime.getRuntime().maxMemory() >> 20)
                .put("gc", collector.getName().split(" ")[0]);
        return runtime;
    }

    @GetMapping("/stats")
    Stats.Counters stats() {
        var lent = database.pool().getHikariPoolMXBean();
        return counts.read(lent.getActiveConnections(), lent.getThreadsAwaitingConnection());
    }
}
