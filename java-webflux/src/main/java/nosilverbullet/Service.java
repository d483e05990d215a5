package nosilverbullet;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringBootVersion;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** C1 to C4: what the harness asks. */
@RestController
@RequestMapping(produces = MediaType.APPLICATION_JSON_VALUE)
class Service {
    record Status(String status) {}

    private static final Status OK = new Status("ok");
    private static final Duration READY_WITHIN = Duration.ofMillis(1500); // C2 allows 2000

    private final Settings settings;
    private final Stats stats;
    private final Statements database;
    private final Duration keepAlive;

    Service(
            Settings settings,
            Stats stats,
            Statements database,
            @Value("${server.netty.idle-timeout}") Duration keepAlive) {
        this.settings = settings;
        this.stats = stats;
        this.database = database;
        this.keepAlive = keepAlive;
    }

    @GetMapping("/healthz")
    Mono<Status> healthz() {
        return Mono.just(OK);
    }

    @GetMapping("/readyz")
    Mono<Status> readyz() {
        return database.ping()
                .timeout(READY_WITHIN, Mono.error(Statements::away))
                .thenReturn(OK);
    }

    @GetMapping("/runtime")
    Mono<ObjectNode> runtime() {
        var facts = database.facts();
        var handover = settings.upstreamHandover() ? ", answers of the upstream on boundedElastic" : "";
        return Mono.just(JsonNodeFactory.instance
                .objectNode()
                .put("runtime", "Java")
                .put("runtime_version", System.getProperty("java.version"))
                .put("framework", "Spring Boot WebFlux")
                .put("framework_version", SpringBootVersion.getVersion())
                .put("server", "Reactor Netty")
                .put("driver", facts.driver())
                .put("driver_version", facts.version())
                .put("concurrency_model", "event loops" + facts.threads() + handover)
                .put("handled_by", Thread.currentThread().getName())
                .put("workers", settings.workers())
                .put("pool_size", facts.poolSize())
                .put("cancels_on_disconnect", true)
                .set("settings", effective(facts.statements())));
    }

    private ObjectNode effective(String statements) {
        var collector =
                ManagementFactory.getGarbageCollectorMXBeans().getFirst().getName(); // "G1 Young Generation"
        return JsonNodeFactory.instance
                .objectNode()
                .put("backlog", Main.BACKLOG)
                .put("keep_alive_s", keepAlive.toSeconds())
                .putNull("max_connections")
                .putNull("server_threads")
                .put("db_acquire_timeout_ms", settings.acquireTimeoutMs())
                .put("db_statements", statements)
                .put("upstream_timeout_ms", settings.upstreamTimeoutMs())
                .putNull("upstream_max_connections")
                .put("upstream_idle_s", Main.UPSTREAM_IDLE.toSeconds())
                .put("offload", "boundedElastic, " + Schedulers.DEFAULT_BOUNDED_ELASTIC_SIZE + " threads")
                .put("heap_max_mib", Runtime.getRuntime().maxMemory() >> 20)
                .put("gc", collector.split(" ")[0]);
    }

    @GetMapping("/stats")
    Mono<Stats.Counters> stats() {
        var facts = database.facts();
        return Mono.just(stats.read(facts.inUse(), facts.waiting()));
    }
}
