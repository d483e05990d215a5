package nosilverbullet;

import java.util.concurrent.atomic.LongAdder;
import org.springframework.stereotype.Component;

/** C4: counters, each cheap to add to from many threads. */
@Component
class Stats {
    record Counters(long requestsTotal, double busySecondsTotal, long inFlight, int poolInUse, int poolWaiting) {}

    private final LongAdder begun = new LongAdder();
    private final LongAdder ended = new LongAdder();
    private final LongAdder busyNanos = new LongAdder();

    /** Returns what {@link #end} wants. */
    long begin() {
        begun.increment();
        return System.nanoTime();
    }

    void end(long since) {
        busyNanos.add(System.nanoTime() - since);
        ended.increment();
    }

    Counters read(int poolInUse, int poolWaiting) {
        long done = ended.sum(); // before begun is read: never below zero in flight
        return new Counters(done, busyNanos.sum() / 1e9, begun.sum() - done, poolInUse, poolWaiting);
    }
}
