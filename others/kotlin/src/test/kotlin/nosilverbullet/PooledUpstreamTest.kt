package nosilverbullet

import com.sun.net.httpserver.HttpServer
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import java.net.InetAddress
import java.net.InetSocketAddress
import java.net.URI
import java.util.concurrent.Executors
import java.util.concurrent.Phaser
import java.util.concurrent.atomic.AtomicInteger

/** What kotlin-pool-3 stands for, and breaks by design: nobody else tests it. */
class PooledUpstreamTest {
    @Test
    fun threeThreadsMakeThreeCallsAtOnce() {
        val now = AtomicInteger()
        val most = AtomicInteger()
        val three = Phaser(3)
        val answer = {
            most.accumulateAndGet(now.incrementAndGet(), ::maxOf)
            three.arriveAndAwaitAdvance()
            now.decrementAndGet()
            200
        }
        threeThreads(answer) { pool, uri -> assertEquals(9, pool.atOnce(9, uri)) }
        assertEquals(3, most.get())
    }

    @Test
    fun callsThatNobodyWaitsForAreNotMade() {
        val made = AtomicInteger()
        val answer = {
            made.incrementAndGet()
            500
        }
        threeThreads(answer) { pool, uri ->
            assertThrows<Problem> { pool.atOnce(1000, uri) }
            assertThrows<Problem> { pool.atOnce(1, uri) } // comes after all that was queued
        }
        assertTrue(made.get() < 1000, "$made calls")
    }

    /** A pool, and an upstream that answers each call in a thread of its own. */
    private fun threeThreads(answer: () -> Int, test: (PooledUpstream, URI) -> Unit) {
        val upstream = HttpServer.create(InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0)
        upstream.executor = Executors.newVirtualThreadPerTaskExecutor()
        upstream.createContext("/delay") { exchange ->
            exchange.sendResponseHeaders(answer(), -1)
            exchange.close()
        }
        upstream.start()
        try {
            val uri = URI.create("http://127.0.0.1:${upstream.address.port}/delay")
            PooledUpstream(Settings.from(ENVIRONMENT), 3).use { test(it, uri) }
        } finally {
            upstream.stop(0)
        }
    }
}
