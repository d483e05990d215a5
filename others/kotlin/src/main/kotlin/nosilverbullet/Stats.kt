package nosilverbullet

import org.springframework.stereotype.Component
import java.util.concurrent.atomic.LongAdder

/** C4: counters, each cheap to add to from many threads. */
@Component
class Stats {
    private val begun = LongAdder()
    private val ended = LongAdder()
    private val busyNanos = LongAdder()

    /** Returns what [end] wants. */
    fun begin(): Long {
        begun.increment()
        return System.nanoTime()
    }

    fun end(since: Long) {
        busyNanos.add(System.nanoTime() - since)
        ended.increment()
    }

    fun requests() = ended.sum()

    fun busySeconds() = busyNanos.sum() / 1e9

    fun inFlight(): Long {
        val before = ended.sum() // read first: never below zero
        return begun.sum() - before
    }
}
