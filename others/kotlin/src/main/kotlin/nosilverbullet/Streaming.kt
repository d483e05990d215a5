package nosilverbullet

import jakarta.servlet.http.HttpServletRequest
import jakarta.servlet.http.HttpServletResponse
import jakarta.websocket.CloseReason
import jakarta.websocket.CloseReason.CloseCodes
import jakarta.websocket.Endpoint
import jakarta.websocket.EndpointConfig
import jakarta.websocket.Extension
import jakarta.websocket.MessageHandler
import jakarta.websocket.Session
import jakarta.websocket.server.ServerContainer
import jakarta.websocket.server.ServerEndpointConfig
import org.slf4j.LoggerFactory
import org.springframework.context.event.ContextClosedEvent
import org.springframework.context.event.EventListener
import org.springframework.http.HttpHeaders
import org.springframework.http.MediaType
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.RequestMapping
import org.springframework.web.bind.annotation.RestController
import java.io.ByteArrayOutputStream
import java.io.IOException
import java.nio.ByteBuffer
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit.MILLISECONDS

private const val LARGEST_MESSAGE = 65_536 // bytes (C24)

/** Tomcat gives a close 50 ms to be sent, which a socket that has just echoed on a busy machine may need itself. */
private const val CLOSE_LIMIT_MS = 2000L
private const val CLOSE_LIMIT = "org.apache.tomcat.websocket.ABNORMAL_SESSION_CLOSE_SEND_TIMEOUT"

/** C14, C15, C24: connections that last as long as their client wants, or until the service stops. */
@RestController
class Streaming(private val stats: Stats) {
    private val log = LoggerFactory.getLogger(javaClass)
    private val sockets = ServerEndpointConfig.Builder
        .create(Socket::class.java, "/ws")
        .configurator(Configurator())
        .build()
        .apply { userProperties[CLOSE_LIMIT] = CLOSE_LIMIT_MS }
    private val ends = ConcurrentHashMap.newKeySet<() -> Unit>() // one for each that is open

    @Volatile
    private var stopping = false

    /** C41: before Tomcat waits for what is in flight. */
    @EventListener(ContextClosedEvent::class)
    fun stop() {
        stopping = true
        val closing = Executors.newVirtualThreadPerTaskExecutor() // a client that does not read holds up its own only
        ends.forEach { closing.execute(it) }
        closing.shutdown()
        closing.awaitTermination(CLOSE_LIMIT_MS, MILLISECONDS)
    }

    private fun opened(end: () -> Unit) {
        ends += end
        if (stopping) {
            end()
        }
    }

    /** The thread is the stream's own for as long as it lasts. A client that left shows in a write that fails. */
    @GetMapping("/events")
    fun events(request: HttpServletRequest, response: HttpServletResponse) {
        val intervalMs = request.number("interval_ms", 10..60_000).toLong()
        response.contentType = MediaType.TEXT_EVENT_STREAM_VALUE
        response.setHeader(HttpHeaders.CACHE_CONTROL, "no-store")
        if (request.method == "HEAD") {
            response.flushBuffer() // there is no body to wait for
            return
        }
        val ended = CountDownLatch(1)
        val end = { ended.countDown() }
        opened(end)
        try {
            val body = response.outputStream
            var number = 0L
            do {
                body.print("data: ${number++}\n\n")
                body.flush()
            } while (!ended.await(intervalMs, MILLISECONDS))
        } finally {
            ends -= end
        }
    }

    /** Tomcat's WebSockets by their standard interface: Spring's own cannot refuse permessage-deflate. */
    @RequestMapping("/ws")
    fun ws(request: HttpServletRequest, response: HttpServletResponse) {
        if (request.method != "GET") {
            throw Problem.methodNotAllowed("GET") // Spring's GET would bring HEAD along
        }
        if (!request.getHeader(HttpHeaders.UPGRADE).equals("websocket", ignoreCase = true)) {
            throw Problem.upgradeRequired()
        }
        val container = request.servletContext.getAttribute(ServerContainer::class.java.name) as ServerContainer
        container.upgradeHttpToWebSocket(request, response, sockets, emptyMap())
    }

    /** A socket of its own for each upgrade, and nothing negotiated. */
    private inner class Configurator : ServerEndpointConfig.Configurator() {
        override fun <T : Any> getEndpointInstance(type: Class<T>): T = type.cast(Socket())

        override fun getNegotiatedExtensions(installed: List<Extension>, requested: List<Extension>) =
            emptyList<Extension>()
    }

    /**
     * Takes messages in parts and puts them together itself: to get them whole, Tomcat would keep buffers of the
     * largest one, 192 KiB for each socket, idle ones too.
     */
    private inner class Socket : Endpoint() {
        private val begun = System.nanoTime()
        private val end = { close(CloseCodes.GOING_AWAY) }
        private lateinit var session: Session
        private var message = ByteArrayOutputStream()

        override fun onOpen(session: Session, config: EndpointConfig) {
            this.session = session
            val client = session.basicRemote
            session.addMessageHandler(
                String::class.java,
                MessageHandler.Partial { part, last ->
                    received(part.encodeToByteArray(), last) { client.sendText(it.decodeToString()) }
                },
            )
            session.addMessageHandler(
                ByteArray::class.java,
                MessageHandler.Partial { part, last ->
                    received(part, last) { client.sendBinary(ByteBuffer.wrap(it)) }
                },
            )
            opened(end)
        }

        private fun received(part: ByteArray, last: Boolean, echo: (ByteArray) -> Unit) {
            if (!session.isOpen) {
                return // a message that is too long goes on until its client has read the close
            }
            message.writeBytes(part)
            if (message.size() > LARGEST_MESSAGE) {
                close(CloseCodes.TOO_BIG)
            } else if (last) {
                val whole = message.toByteArray()
                message = ByteArrayOutputStream() // not reset: an idle socket keeps no large buffer
                try {
                    echo(whole)
                } catch (_: IOException) {
                    // Tomcat has closed the session,
                } catch (_: IllegalStateException) {
                    // or is about to
                }
            }
        }

        private fun close(code: CloseCodes) {
            try {
                session.close(CloseReason(code, ""))
            } catch (_: IOException) {
                // which is what was wanted
            }
        }

        override fun onClose(session: Session, reason: CloseReason) {
            ends -= end
            stats.end(begun) // Routes has left it to the socket
        }

        /** Clients that left come here, too. */
        override fun onError(session: Session, failure: Throwable) {
            if (failure !is IOException) {
                log.error("internal error", failure)
            }
        }
    }
}
