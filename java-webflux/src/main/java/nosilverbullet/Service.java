package nosilverbullet;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.reactor.netty.autoconfigure.NettyServerProperties;
import org.springframework.core.env.Environment;
import org.springframework.web.bind.annotation.GetMapping;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** C1 to C4: what the harness asks. */
@JsonController
record Service(
        Settings settings, Stats counts, Database database, NettyServerProperties server, Environment environment) {
    record Status(String status) {}

    private static final Status OK = new Status("ok");
    private static final Duration READY_WITHIN = Duration.ofMillis(1500); // C2 allows 2000

    @GetMapping("/healthz")
    Mono<Status> healthz() {
        return Mono.just(OK);
    }

    @GetMapping("/readyz")
    Mono<Status> readyz() {
        return database.ping().timeout(READY_WITHIN, Mono.error(Database::away)).thenReturn(OK);
    }

    @GetMapping("/runtime")
    Mono<ObjectNode> runtime() {
        var facts = database.facts();
        var client = environment.getRequiredProperty("db.client");
        var handover = environment.getRequiredProperty("upstream.handover", Boolean.class) ? ", handover" : "";
        var collector = ManagementFactory.getGarbageCollectorMXBeans().getFirst();
        var runtime = JsonNodeFactory.instance
                .objectNode()
                .put("runtime", "Java")
                .put("runtime_version", System.getProperty("java.version"))
                .put("framework", "Spring Boot WebFlux" + (environment.matchesProfiles("functional") ? ".fn" : ""))
                .put("framework_version", SpringBootVersion.getVersion())
                .put("server", "Reactor Netty")
                .put("driver", facts.driver())
                .put("driver_version", facts.version())
                .put("concurrency_model", "event loops" + (client.equals("r2dbc") ? "" : ", " + client) + handover)
                .put("handled_by", Thread.currentThread().getName())
                .put("workers", settings.workers())
                .put("pool_size", facts.poolSize())
                .put("cancels_on_disconnect", true);
        runtime.putObject("settings")
                .putNull("backlog") // as many of 4096 as the kernel grants (C62)
                .put("keep_alive_s", server.getIdleTimeout().toSeconds())
                .putNull("max_connections")
                .putNull("server_threads")
                .put("db_acquire_timeout_ms", settings.acquireTimeoutMs())
                .put("db_statements", facts.statements())
                .put("upstream_timeout_ms", settings.upstreamTimeoutMs())
                .putNull("upstream_max_connections")
                .put("upstream_idle_s", Main.UPSTREAM_IDLE.toSeconds())
                .put("offload", "boundedElastic, " + Schedulers.DEFAULT_BOUNDED_ELASTIC_SIZE + " threads")
                .put("heap_max_mib", Runtime.getRuntime().maxMemory() >> 20)
                .put("gc", collector.getName().split(" ")[0]); // "G1 Young Generation"
        return Mono.just(runtime);
    }

    @GetMapping("/stats")
    Mono<Stats.Counters> stats() {
        var facts = database.facts();
        return Mono.just(counts.read(facts.inUse(), facts.waiting()));
    }
}
