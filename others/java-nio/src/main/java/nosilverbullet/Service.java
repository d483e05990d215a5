package nosilverbullet;

import java.lang.management.ManagementFactory;
import java.util.Locale;

/** C3 and C4: what the harness asks. */
final class Service {
    private final Settings settings;
    private final Stats stats;

    Service(Settings settings, Stats stats) {
        this.settings = settings;
        this.stats = stats;
    }

    String runtime() {
        var form = """
                {"runtime":"Java","runtime_version":"%s","framework":null,"framework_version":null,"server":"java.nio",\
                "driver":null,"driver_version":null,"concurrency_model":"one thread per selector","handled_by":"%s",\
                "workers":%d,"pool_size":0,"cancels_on_disconnect":false,\
                "settings":{"backlog":%d,"keep_alive_s":%d,"max_connections":null,"server_threads":null,\
                "db_acquire_timeout_ms":null,"db_statements":null,"upstream_timeout_ms":null,\
                "upstream_max_connections":null,"upstream_idle_s":null,"offload":null,"heap_max_mib":%d,"gc":"%s"}}""";
        var collector =
                ManagementFactory.getGarbageCollectorMXBeans().getFirst().getName(); // "G1 Young …"
        return String.format(
                Locale.ROOT,
                form,
                System.getProperty("java.version"),
                Thread.currentThread().getName(),
                settings.workers(),
                settings.backlog(),
                Loop.KEEP_ALIVE_S,
                ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getMax() >> 20,
                collector.split(" ")[0]);
    }

    String stats() {
        return "{\"requests_total\":" + stats.requests() + ",\"busy_seconds_total\":" + stats.busySeconds()
                + ",\"in_flight\":" + stats.inFlight() + ",\"pool_in_use\":0,\"pool_waiting\":0}";
    }
}
