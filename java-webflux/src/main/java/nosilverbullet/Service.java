package nosilverbullet;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.springframework.boot.SpringBootVersion;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** What operators ask (C1-C4). */
@RestController
class Service {

    private static final Duration READY_TIMEOUT = Duration.ofMillis(1500); // C2: an answer within 2 s
    private static final long MIB = 1024L * 1024;

    private final Settings settings;
    private final Statements database;
    private final Stats stats;

    Service(Settings settings, Statements database, Stats stats) {
        this.settings = settings;
        this.database = database;
        this.stats = stats;
    }

    record Status(String status) {}

    record RuntimeFacts(
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
            long keepAliveS,
            Integer maxConnections,
            Integer serverThreads,
            long dbAcquireTimeoutMs,
            String dbStatements,
            long upstreamTimeoutMs,
            Integer upstreamMaxConnections,
            long upstreamIdleS,
            String offload,
            Long heapMaxMib,
            String gc) {}

    record Counters(long requestsTotal, double busySecondsTotal, long inFlight, int poolInUse, int poolWaiting) {}

    /** C1. */
    @GetMapping("/healthz")
    Mono<Status> healthz() {
        return Mono.just(new Status("ok"));
    }

    /** C2. */
    @GetMapping("/readyz")
    Mono<Status> readyz() {
        return database.one()
                .timeout(READY_TIMEOUT, Mono.error(Problem::databaseSilent))
                .thenReturn(new Status("ok"));
    }

    /** C3. */
    @GetMapping("/runtime")
    Mono<RuntimeFacts> runtime() {
        var driver = database.facts();
        var handover = settings.upstreamHandover() ? ", answers of the upstream on boundedElastic" : "";
        var effective = new Effective(
                Main.BACKLOG,
                Main.KEEP_ALIVE.toSeconds(),
                null,
                null,
                settings.acquireTimeout().toMillis(),
                driver.statements(),
                settings.upstreamTimeout().toMillis(),
                null,
                Main.UPSTREAM_IDLE.toSeconds(),
                "boundedElastic, " + Schedulers.DEFAULT_BOUNDED_ELASTIC_SIZE + " threads",
                Runtime.getRuntime().maxMemory() / MIB,
                collector());
        return Mono.just(new RuntimeFacts(
                "Java",
                System.getProperty("java.version"),
                "Spring Boot WebFlux",
                SpringBootVersion.getVersion(),
                "Reactor Netty",
                driver.driver(),
                driver.driverVersion(),
                "event loops" + settings.databaseClient().aside + handover,
                Thread.currentThread().getName(),
                settings.workers(),
                database.poolSize(),
                true,
                effective));
    }

    /** C4. */
    @GetMapping("/stats")
    Mono<Counters> stats() {
        return Mono.just(new Counters(
                stats.requestsTotal(),
                stats.busySecondsTotal(),
                stats.inFlight(),
                database.inUse(),
                database.waiting()));
    }

    private static String collector() {
        // "G1 Young Generation", "G1 Concurrent GC", "G1 Old Generation"
        return ManagementFactory.getGarbageCollectorMXBeans()
                .getFirst()
                .getName()
                .split(" ")[0];
    }
}
