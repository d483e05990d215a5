package nosilverbullet;

import java.util.concurrent.atomic.LongAdder;
import org.springframework.stereotype.Component;

/** C4: counters, each cheap to add to from many threads. */
@Component
class Stats {
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

    long requests() {
        return ended.sum();
    }

    double busySeconds() {
        return busyNanos.sum() / 1e9;
    }

    long inFlight() {
        long before = ended.sum(); // read first: never below zero
        return begun.sum() - before;
    }
}
