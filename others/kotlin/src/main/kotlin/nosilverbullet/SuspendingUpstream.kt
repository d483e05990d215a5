package nosilverbullet

import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.coroutines.withTimeoutOrNull
import org.apache.hc.client5.http.async.methods.SimpleHttpRequest
import org.apache.hc.client5.http.async.methods.SimpleHttpResponse
import org.apache.hc.client5.http.async.methods.SimpleRequestBuilder
import org.apache.hc.client5.http.impl.async.CloseableHttpAsyncClient
import org.apache.hc.client5.http.impl.async.HttpAsyncClients
import org.apache.hc.client5.http.impl.nio.PoolingAsyncClientConnectionManagerBuilder
import org.apache.hc.core5.concurrent.FutureCallback
import org.apache.hc.core5.http.HttpException
import java.io.IOException
import java.net.URI
import kotlin.coroutines.resume
import kotlin.coroutines.resumeWithException
import kotlin.time.Duration.Companion.milliseconds

/**
 * A coroutine per call, all of them on the request's own thread: as in the article, runBlocking's event loop is their
 * dispatcher. That is enough, since a call suspends and the answers come by the client's own event loops.
 */
class SuspendingUpstream(settings: Settings) : Upstream {
    private val limit = settings.upstreamTimeoutMs.milliseconds
    private val client = client(settings).apply { start() }

    override val overlap = "coroutines"

    /** Structured: where one call fails, the others are cancelled. */
    override fun atOnce(calls: Int, uri: URI): Int = runBlocking {
        List(calls) { async { call(uri) } }.awaitAll().size
    }

    override fun oneByOne(calls: Int, uri: URI): Int = runBlocking {
        List(calls) { call(uri) }.size
    }

    private suspend fun call(uri: URI) {
        val answer = try {
            withTimeoutOrNull(limit) { client.answer(SimpleRequestBuilder.get(uri).build()) }
        } catch (failure: IOException) {
            throw Problem.upstream(failure)
        } catch (failure: HttpException) {
            throw Problem.upstream(failure)
        }
        if (answer?.code != 200) {
            throw Problem.upstream()
        }
    }

    override fun close() = client.close()
}

private fun client(settings: Settings): CloseableHttpAsyncClient {
    val connections = PoolingAsyncClientConnectionManagerBuilder
        .create()
        .setMaxConnTotal(Int.MAX_VALUE)
        .setMaxConnPerRoute(Int.MAX_VALUE)
        .setDefaultConnectionConfig(connections(settings))
        .build()
    return HttpAsyncClients
        .custom()
        .setConnectionManager(connections)
        .setKeepAliveStrategy(KEPT)
        .disableAutomaticRetries()
        .disableRedirectHandling()
        .disableContentCompression()
        .disableCookieManagement()
        .disableAuthCaching()
        .build()
}

/** The client's callbacks as a suspending function; a call that is left is aborted. */
private suspend fun CloseableHttpAsyncClient.answer(get: SimpleHttpRequest): SimpleHttpResponse =
    suspendCancellableCoroutine { caller ->
        val begun = execute(
            get,
            object : FutureCallback<SimpleHttpResponse> {
                override fun completed(answer: SimpleHttpResponse) = caller.resume(answer)

                override fun failed(cause: Exception) = caller.resumeWithException(cause)

                override fun cancelled() {
                    caller.cancel()
                }
            },
        )
        caller.invokeOnCancellation { begun.cancel(true) }
    }
