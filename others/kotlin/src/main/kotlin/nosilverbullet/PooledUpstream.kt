package nosilverbullet

import org.apache.hc.client5.http.classic.methods.HttpGet
import org.apache.hc.client5.http.config.RequestConfig
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient
import org.apache.hc.client5.http.impl.classic.HttpClients
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder
import org.apache.hc.core5.http.io.entity.EntityUtils
import org.apache.hc.core5.util.Timeout
import java.io.IOException
import java.net.URI
import java.util.concurrent.ExecutionException
import java.util.concurrent.ExecutorCompletionService
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.ThreadPoolExecutor
import java.util.concurrent.TimeUnit.SECONDS

/** A blocking call per thread, of a fixed pool that all requests share, as in the article. */
class PooledUpstream(settings: Settings, size: Int) : Upstream {
    // What Executors.newFixedThreadPool(size) returns, with a type that tells its size.
    private val threads = ThreadPoolExecutor(size, size, 0, SECONDS, LinkedBlockingQueue())
    private val client = client(settings)

    override val overlap get() = "a pool of ${threads.maximumPoolSize} threads"

    override fun atOnce(calls: Int, uri: URI): Int {
        val begun = List(calls) { HttpGet(uri) }
        val answered = ExecutorCompletionService<Unit>(threads)
        var completed = 0
        try {
            begun.forEach { get -> answered.submit { call(get) } }
            while (completed < calls) {
                answered.take().get()
                completed++
            }
            return completed
        } catch (failure: ExecutionException) {
            throw failure.cause as? Problem ?: Problem.internal(failure.cause)
        } finally {
            if (completed < calls) {
                begun.forEach(HttpGet::cancel) // nobody waits for the others any more
            }
        }
    }

    /** Without the pool: the request's own thread waits anyway. */
    override fun oneByOne(calls: Int, uri: URI): Int = List(calls) { call(HttpGet(uri)) }.size

    private fun call(get: HttpGet) {
        val status = try {
            client.execute(get) { answer ->
                EntityUtils.consume(answer.entity) // gives the connection back
                answer.code
            }
        } catch (failure: IOException) {
            throw Problem.upstream(failure)
        }
        if (status != 200) {
            throw Problem.upstream()
        }
    }

    override fun close() {
        threads.shutdownNow()
        client.close()
    }
}

private fun client(settings: Settings): CloseableHttpClient {
    val connections = PoolingHttpClientConnectionManagerBuilder
        .create()
        .setMaxConnTotal(Int.MAX_VALUE)
        .setMaxConnPerRoute(Int.MAX_VALUE)
        .setDefaultConnectionConfig(connections(settings))
        .build()
    val limit = Timeout.ofMilliseconds(settings.upstreamTimeoutMs.toLong())
    return HttpClients
        .custom()
        .setConnectionManager(connections)
        .setDefaultRequestConfig(RequestConfig.custom().setResponseTimeout(limit).build())
        .setKeepAliveStrategy(KEPT)
        .disableAutomaticRetries()
        .disableRedirectHandling()
        .disableContentCompression()
        .disableCookieManagement()
        .disableAuthCaching()
        .build()
}
