package nosilverbullet;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.springframework.stereotype.Component;

/** The counters of C4. */
@Component
class Stats {

    private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

    private final LongAdder begun = new LongAdder();
    private final LongAdder ended = new LongAdder();
    private final LongAdder busyNanos = new LongAdder();

    long begin() {
        begun.increment();
        return System.nanoTime();
    }

    void end(long begunAt) {
        busyNanos.add(System.nanoTime() - begunAt);
        ended.increment();
    }

    long requestsTotal() {
        return ended.sum();
    }

    double busySecondsTotal() {
        return busyNanos.sum() / NANOS_PER_SECOND;
    }

    long inFlight() {
        var endedBefore = ended.sum(); // read first: what ends meanwhile must not make it negative
        return begun.sum() - endedBefore;
    }
}
