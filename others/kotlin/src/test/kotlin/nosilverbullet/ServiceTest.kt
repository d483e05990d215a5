package nosilverbullet

import com.sun.net.httpserver.HttpExchange
import com.sun.net.httpserver.HttpServer
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestInstance
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource
import org.junit.jupiter.params.provider.ValueSource
import org.springframework.context.ConfigurableApplicationContext
import java.io.ByteArrayInputStream
import java.io.ByteArrayOutputStream
import java.io.IOException
import java.io.InputStream
import java.net.InetAddress
import java.net.InetSocketAddress
import java.net.ServerSocket
import java.net.Socket
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpRequest.BodyPublisher
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse
import java.net.http.HttpResponse.BodyHandlers
import java.net.http.WebSocket
import java.nio.ByteBuffer
import java.nio.file.Path
import java.time.Duration
import java.util.concurrent.CompletionStage
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executors
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.Phaser
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger

private const val THREE_ARRIVED = 77 // ms for which the upstream waits until three calls are there
private const val NINE_ARRIVED = 99 // … until nine are
private const val BROKEN = 13 // ms for which it answers 500
private const val SILENT = 14 // ms for which it does not answer

private val PATIENCE = Duration.ofSeconds(30)

/** What the upstream has seen of the calls that ask for one number of ms. */
private class Seen {
    val calls = AtomicInteger()
    val now = AtomicInteger()
    val peak = AtomicInteger()
}

/** What comes back on a socket: texts, buffers, "pong" and the code of a close. */
private class EchoClient(http: HttpClient, port: Int) : WebSocket.Listener {
    private val received = LinkedBlockingQueue<Any>()
    private val text = StringBuilder()
    private val binary = ByteArrayOutputStream()

    val socket: WebSocket = http
        .newWebSocketBuilder()
        .buildAsync(URI.create("ws://127.0.0.1:$port/ws"), this)
        .join()

    fun next(): Any? = received.poll(PATIENCE.seconds, TimeUnit.SECONDS)

    override fun onText(socket: WebSocket, part: CharSequence, last: Boolean): CompletionStage<*>? {
        text.append(part)
        if (last) {
            received += text.toString()
            text.clear()
        }
        socket.request(1)
        return null
    }

    override fun onBinary(socket: WebSocket, part: ByteBuffer, last: Boolean): CompletionStage<*>? {
        while (part.hasRemaining()) {
            binary.write(part.get().toInt())
        }
        if (last) {
            received += ByteBuffer.wrap(binary.toByteArray())
            binary.reset()
        }
        socket.request(1)
        return null
    }

    override fun onPong(socket: WebSocket, message: ByteBuffer): CompletionStage<*>? {
        received += "pong"
        socket.request(1)
        return null
    }

    override fun onClose(socket: WebSocket, code: Int, reason: String): CompletionStage<*>? {
        received += code
        return null
    }
}

/** The contract from the outside, with each way to overlap calls, the database away and a small upstream. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ServiceTest {
    private val client = HttpClient.newHttpClient()
    private val three = Phaser(3)
    private val nine = Phaser(9)
    private val over = CountDownLatch(1)
    private val seen = ConcurrentHashMap<Int, Seen>()
    private val upstream = HttpServer.create(InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0)

    private val ports = mutableMapOf<String, Int>()
    private val running = mutableListOf<ConfigurableApplicationContext>()

    @BeforeAll
    fun start() {
        upstream.executor = Executors.newVirtualThreadPerTaskExecutor()
        upstream.createContext("/delay", ::delay)
        upstream.start()
        for (fanout in listOf("coroutines", "3", "20")) {
            val settings = Settings.from(environment("FANOUT" to fanout))
            running += start(settings)
            ports[fanout] = settings.port
        }
    }

    private fun delay(exchange: HttpExchange) {
        val ms = exchange.requestURI.query
            .removePrefix("ms=")
            .toInt()
        val seen = seen(ms)
        seen.calls.incrementAndGet()
        seen.peak.accumulateAndGet(seen.now.incrementAndGet(), ::maxOf)
        when (ms) {
            THREE_ARRIVED -> three.arriveAndAwaitAdvance()
            NINE_ARRIVED -> nine.arriveAndAwaitAdvance()
            SILENT -> over.await()
            else -> Thread.sleep(ms.toLong())
        }
        seen.now.decrementAndGet()
        exchange.sendResponseHeaders(if (ms == BROKEN) 500 else 200, -1)
        exchange.close()
    }

    private fun seen(ms: Int) = seen.computeIfAbsent(ms) { Seen() }

    @AfterAll
    fun stop() {
        over.countDown()
        running.forEach { it.close() }
        upstream.stop(0)
    }

    private fun environment(vararg own: Pair<String, String>) = mapOf(
        "PORT" to "${freePort()}",
        "DATABASE_URL" to "mysql://user:secret@127.0.0.1:${freePort()}/nsb", // nobody is there
        "DB_POOL_SIZE" to "3",
        "DB_ACQUIRE_TIMEOUT_MS" to "100",
        "UPSTREAM_URL" to "http://127.0.0.1:${upstream.address.port}",
        "UPSTREAM_TIMEOUT_MS" to "2000",
        "WORKERS" to "2",
        "SERVER_THREADS" to "20",
    ) + own

    private fun freePort() = ServerSocket(0).use { it.localPort }

    private fun request(port: Int, path: String): HttpRequest.Builder =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:$port$path")).timeout(PATIENCE)

    private fun send(
        method: String,
        path: String,
        body: BodyPublisher = BodyPublishers.noBody(),
        type: String = "",
        fanout: String = "coroutines",
    ): HttpResponse<String> {
        val request = request(ports.getValue(fanout), path).method(method, body)
        if (type.isNotEmpty()) {
            request.header("Content-Type", type)
        }
        return client.send(request.build(), BodyHandlers.ofString())
    }

    private fun get(path: String, fanout: String = "coroutines"): String {
        val answer = send("GET", path, fanout = fanout)
        assertThat(answer.statusCode()).describedAs(answer.body()).isEqualTo(200)
        return answer.body()
    }

    private fun post(body: ByteArray, type: String = "application/json") =
        send("POST", "/books", BodyPublishers.ofByteArray(body), type)

    private fun isProblem(answer: HttpResponse<String>, status: Int, title: String, detail: String) {
        assertThat(answer.body())
            .isEqualTo("""{"type":"about:blank","title":"$title","status":$status,"detail":"$detail"}""")
        assertThat(answer.statusCode()).isEqualTo(status)
        assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/problem+json")
        assertThat(answer.headers().firstValueAsLong("Content-Length")).hasValue(answer.body().length.toLong())
    }

    @Test
    fun healthzIsOkAndReadyzIsNotWithoutItsDatabase() { // C1, C2, C43
        assertThat(get("/healthz")).isEqualTo("""{"status":"ok"}""")
        isProblem(send("GET", "/readyz"), 503, "Service Unavailable", "the database did not answer")
    }

    @ParameterizedTest
    @CsvSource("coroutines,coroutines", "3,a pool of 3 threads", "20,a pool of 20 threads")
    fun runtimeTellsWhatIsInEffect(fanout: String, overlap: String) { // C3
        assertThat(get("/runtime", fanout))
            .startsWith("""{"runtime":"Java","runtime_version":"""")
            .contains(""""concurrency_model":"platform threads, fan-out by $overlap","handled_by":"http-nio-""")
            .contains(""""pool_size":3,"cancels_on_disconnect":false,"settings":{"backlog":""")
            .contains(""""keep_alive_s":75,"max_connections":null,"server_threads":20,""")
            .contains(""""db_acquire_timeout_ms":100,"db_statements":"prepared","upstream_timeout_ms":2000,""")
            .contains(""""upstream_max_connections":null,"upstream_idle_s":86400,"offload":"none needed",""")
    }

    @Test
    fun statsCountAllButTheServiceEndpoints() { // C4
        val before = requests()
        get("/healthz")
        get("/hello")
        send("GET", "/nowhere")
        var after = requests()
        while (after < before + 2) { // an answer may be here before its end is counted
            after = requests()
        }
        assertThat(after).isEqualTo(before + 2)
        assertThat(get("/stats")).endsWith(""","in_flight":0,"pool_in_use":0,"pool_waiting":0}""")
    }

    private fun requests() = get("/stats").substringAfter(':').substringBefore(',').toLong()

    @Test
    fun answersWhatNeedsNoDatabase() { // C5, C6, C12, C13
        assertThat(get("/hello")).isEqualTo("hello")
        assertThat(get("/sleep?ms=5&unknown=x")).isEqualTo("""{"slept_ms":5}""")
        assertThat(get("/compute?rounds=1")).isEqualTo("""{"rounds":1,"result":723471715}""")
        assertThat(get("/compute?rounds=1000")).isEqualTo("""{"rounds":1000,"result":3298996588}""")
        assertThat(get("/block?ms=5&offload=false")).isEqualTo("""{"blocked_ms":5,"offloaded":false}""")
        assertThat(get("/block?ms=5&offload=true")).isEqualTo("""{"blocked_ms":5,"offloaded":true}""")
    }

    /** Coroutines and a pool that is large enough: nine calls are there at once, or none is ever answered. */
    @ParameterizedTest
    @ValueSource(strings = ["coroutines", "20"])
    fun callsOverlap(fanout: String) { // C11
        assertThat(get("/fanout?calls=9&ms=$NINE_ARRIVED&mode=concurrent", fanout))
            .isEqualTo("""{"calls":9,"mode":"concurrent","completed":9}""")
    }

    @Test
    fun aPoolOfThreeMakesThreeCallsAtOnce() { // what kotlin-pool-3 stands for
        assertThat(get("/fanout?calls=9&ms=$THREE_ARRIVED&mode=concurrent", "3"))
            .isEqualTo("""{"calls":9,"mode":"concurrent","completed":9}""")
        assertThat(seen(THREE_ARRIVED).peak).hasValue(3)
    }

    @ParameterizedTest
    @CsvSource("coroutines,5", "3,6")
    fun sequentialCallsDoNotOverlap(fanout: String, ms: Int) { // C11
        assertThat(get("/fanout?calls=3&ms=$ms&mode=sequential", fanout))
            .isEqualTo("""{"calls":3,"mode":"sequential","completed":3}""")
        assertThat(seen(ms).calls).hasValue(3)
        assertThat(seen(ms).peak).hasValue(1)
    }

    @ParameterizedTest
    @CsvSource(
        "coroutines,concurrent,$BROKEN",
        "coroutines,sequential,$BROKEN",
        "coroutines,concurrent,$SILENT",
        "coroutines,sequential,$SILENT",
        "3,concurrent,$BROKEN",
        "3,sequential,$BROKEN",
        "3,concurrent,$SILENT",
        "3,sequential,$SILENT",
    )
    fun fanoutFailsWithItsUpstream(fanout: String, mode: String, ms: Int) { // C37
        val answer = send("GET", "/fanout?calls=3&ms=$ms&mode=$mode", fanout = fanout)
        isProblem(answer, 502, "Bad Gateway", "the upstream did not answer")
    }

    /** What waits in the pool's queue when a call fails is not made: nobody waits for it any more. */
    @Test
    fun aFailureLeavesNothingInThePool() {
        val before = seen(BROKEN).calls.get()
        send("GET", "/fanout?calls=1000&ms=$BROKEN&mode=concurrent", fanout = "3")
        get("/fanout?calls=1&ms=1&mode=concurrent", "3") // comes after all that was queued
        assertThat(seen(BROKEN).calls.get() - before).isLessThan(1000)
    }

    @Test
    fun eventsComeUntilTheClientLeaves() { // C14, C4, C40
        val port = ports.getValue("coroutines")
        awaitInFlight(port, 0) // an answer may be here before its end is counted
        val before = requests()
        val answer = events(port, 10)
        assertThat(answer.statusCode()).isEqualTo(200)
        assertThat(answer.headers().firstValue("Content-Type")).hasValue("text/event-stream")
        assertThat(answer.headers().firstValue("Cache-Control")).hasValue("no-store")
        assertThat(answer.headers().firstValue("Content-Length")).isEmpty()
        assertThat(answer.body().readNBytes(36).decodeToString())
            .isEqualTo("data: 0\n\ndata: 1\n\ndata: 2\n\ndata: 3\n\n")
        assertThat(stats(port)).contains("{\"requests_total\":$before,", "\"in_flight\":1,")
        answer.body().close()
        awaitInFlight(port, 0)
        assertThat(requests()).isEqualTo(before + 1)

        val head = send("HEAD", "/events?interval_ms=60000")
        assertThat(head.statusCode()).isEqualTo(200)
        assertThat(head.headers().firstValue("Content-Type")).hasValue("text/event-stream")
        awaitInFlight(port, 0)
    }

    @Test
    fun messagesComeBack() { // C15, C24, C4
        val port = ports.getValue("coroutines")
        val echo = EchoClient(client, port)
        for (text in listOf("안녕 😀", "", "a".repeat(65_536), "é".repeat(32_768), "😀".repeat(16_384))) {
            echo.socket.sendText(text, true).join()
            assertThat(echo.next()).isEqualTo(text)
        }
        echo.socket.sendText("o", false).join()
        echo.socket.sendText("ne", true).join()
        assertThat(echo.next()).isEqualTo("one")
        for (size in listOf(0, 1, 65_536)) {
            echo.socket.sendBinary(ByteBuffer.allocate(size), true).join()
            assertThat(echo.next()).isEqualTo(ByteBuffer.allocate(size))
        }
        echo.socket.sendPing(ByteBuffer.allocate(1)).join()
        assertThat(echo.next()).isEqualTo("pong")
        awaitInFlight(port, 1)
        echo.socket.sendClose(WebSocket.NORMAL_CLOSURE, "").join()
        assertThat(echo.next()).isEqualTo(1000)
        awaitInFlight(port, 0)

        val leaving = EchoClient(client, port)
        awaitInFlight(port, 1)
        leaving.socket.abort()
        awaitInFlight(port, 0)
    }

    @Test
    fun messagesThatAreTooLongClose() { // C24
        val port = ports.getValue("coroutines")
        for (text in listOf("a".repeat(65_537), "é".repeat(32_769), "a".repeat(1_000_000))) {
            val echo = EchoClient(client, port)
            echo.socket.sendText(text, true)
            assertThat(echo.next()).isEqualTo(1009)
        }
        val echo = EchoClient(client, port)
        echo.socket.sendBinary(ByteBuffer.allocate(40_000), false).join()
        echo.socket.sendBinary(ByteBuffer.allocate(40_000), true)
        assertThat(echo.next()).isEqualTo(1009)
        awaitInFlight(port, 0)
    }

    @Test
    fun aSocketNegotiatesNothingAndRefusesWhatIsNotUtf8() { // C24
        val port = ports.getValue("coroutines")
        val handshake = listOf(
            "GET /ws HTTP/1.1",
            "Host: test",
            "Origin: http://elsewhere",
            "Upgrade: websocket",
            "Connection: keep-alive, Upgrade",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Extensions: permessage-deflate",
            "Sec-WebSocket-Protocol: chat",
        ).joinToString("") { "$it\r\n" } + "\r\n"
        val textFf = byteArrayOf(0x81.toByte(), 0x81.toByte(), 0, 0, 0, 0, -1) // final, masked by zeros
        Socket(InetAddress.getLoopbackAddress(), port).use { socket ->
            socket.getOutputStream().write(handshake.encodeToByteArray())
            val head = StringBuilder()
            while (!head.endsWith("\r\n\r\n")) {
                head.append(socket.getInputStream().read().toChar())
            }
            assertThat(head.toString())
                .startsWith("HTTP/1.1 101 ")
                .contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
                .doesNotContainIgnoringCase("Sec-WebSocket-Extensions")
                .doesNotContainIgnoringCase("Sec-WebSocket-Protocol")
            socket.getOutputStream().write(textFf)
            val close = ByteBuffer.wrap(socket.getInputStream().readNBytes(4))
            assertThat(close.get()).isEqualTo(0x88.toByte())
            assertThat(close.getShort(2)).isEqualTo(1007.toShort())
        }
        awaitInFlight(port, 0)
    }

    @Test
    fun withoutAnUpgradeThereIsNoSocket() { // C24
        val answer = send("GET", "/ws")
        isProblem(answer, 426, "Upgrade Required", "upgrade to a WebSocket")
        assertThat(answer.headers().firstValue("Upgrade")).hasValue("websocket")
        val head = send("HEAD", "/ws")
        assertThat(head.statusCode()).isEqualTo(405)
        assertThat(head.headers().firstValue("Allow")).hasValue("GET")
    }

    private fun events(port: Int, intervalMs: Int): HttpResponse<InputStream> =
        client.send(request(port, "/events?interval_ms=$intervalMs").build(), BodyHandlers.ofInputStream())

    private fun stats(port: Int): String = client.send(request(port, "/stats").build(), BodyHandlers.ofString()).body()

    private fun awaitInFlight(port: Int, wanted: Int) {
        val until = System.nanoTime() + PATIENCE.toNanos()
        while ("\"in_flight\":$wanted," !in stats(port)) {
            assertThat(System.nanoTime()).describedAs("$wanted in flight").isLessThan(until)
            Thread.sleep(1)
        }
    }

    @ParameterizedTest
    @ValueSource(strings = ["/hello/", "/HELLO", "/", "/error", "/book", "/books/1/", "/events/", "/ws/"])
    fun unknownPathsAreNotFound(path: String) { // C20, C31
        for (method in listOf("GET", "POST", "OPTIONS", "PURGE")) {
            isProblem(send(method, path), 404, "Not Found", "nothing is here")
        }
    }

    @ParameterizedTest
    @CsvSource(
        "POST|/hello|GET, HEAD",
        "OPTIONS|/hello|GET, HEAD",
        "POST|/events?interval_ms=x|GET, HEAD",
        "POST|/ws|GET",
        "OPTIONS|/ws|GET",
        "TRACE|/healthz|GET, HEAD",
        "DELETE|/books/1|GET, HEAD",
        "PURGE|/sleep|GET, HEAD",
        "GET|/books|POST",
        "OPTIONS|/books|POST",
        delimiter = '|',
    )
    fun otherMethodsAreNotAllowed(method: String, path: String, allow: String) { // C21, C32
        val answer = send(method, path)
        isProblem(answer, 405, "Method Not Allowed", "the method is not allowed here")
        assertThat(answer.headers().firstValue("Allow")).hasValue(allow)
    }

    @ParameterizedTest
    @ValueSource(strings = ["/hello", "/sleep?ms=1", "/sleep", "/nowhere", "/readyz", "/events"])
    fun headIsGetWithoutABody(path: String) { // C21
        val get = send("GET", path)
        val head = send("HEAD", path)
        assertThat(head.body()).isEmpty()
        assertThat(head.statusCode()).isEqualTo(get.statusCode())
        for (name in listOf("Content-Type", "Content-Length")) {
            assertThat(head.headers().firstValue(name)).isPresent().isEqualTo(get.headers().firstValue(name))
        }
    }

    @ParameterizedTest
    @CsvSource(
        "/sleep|ms must be given once, as a whole number from 0 to 60000",
        "/sleep?ms=|ms must be given once, as a whole number from 0 to 60000",
        "/sleep?ms|ms must be given once, as a whole number from 0 to 60000",
        "/sleep?ms=01|ms must be given once, as a whole number from 0 to 60000",
        "/sleep?ms=-1|ms must be given once, as a whole number from 0 to 60000",
        "/sleep?ms=%2B1|ms must be given once, as a whole number from 0 to 60000",
        "/sleep?ms=%D9%A1|ms must be given once, as a whole number from 0 to 60000",
        "/sleep?ms=60001|ms must be given once, as a whole number from 0 to 60000",
        "/sleep?ms=99999999999999999999|ms must be given once, as a whole number from 0 to 60000",
        "/sleep-query?ms=1&ms=1|ms must be given once, as a whole number from 0 to 60000",
        "/slow-query?ms=1&%6Ds=1|ms must be given once, as a whole number from 0 to 60000",
        "/block?offload=x&ms=1001|ms must be given once, as a whole number from 0 to 1000",
        "/block?ms=1&offload=True|offload must be given once, as false or true",
        "/compute?rounds=0|rounds must be given once, as a whole number from 1 to 10000000",
        "/fanout?mode=x&ms=x&calls=1001|calls must be given once, as a whole number from 1 to 1000",
        "/fanout?calls=1&ms=1&mode=both|mode must be given once, as concurrent or sequential",
        "/events?interval_ms=9|interval_ms must be given once, as a whole number from 10 to 60000",
        "/books/0|id must be a whole number from 1 to 9007199254740991",
        "/books/x|id must be a whole number from 1 to 9007199254740991",
        "/books/9007199254740992|id must be a whole number from 1 to 9007199254740991",
        delimiter = '|',
    )
    fun wrongParametersAreNamed(path: String, detail: String) { // C22, C35
        isProblem(send("GET", path), 400, "Bad Request", detail)
    }

    @Test
    fun bodiesAreJson() { // C23, C33, C34, C35
        for (type in listOf("", "text/json", "application/jsonx", "multipart/form-data; boundary=x")) {
            val answer = post(ByteArray(70_000), type)
            isProblem(answer, 415, "Unsupported Media Type", "the body must be application/json")
        }
        val tooLarge = "the body must not exceed 65536 bytes"
        isProblem(post(ByteArray(65_537)), 413, "Content Too Large", tooLarge)
        val chunked = BodyPublishers.ofInputStream { ByteArrayInputStream(ByteArray(70_000)) }
        isProblem(send("POST", "/books", chunked, "application/json"), 413, "Content Too Large", tooLarge)
        val malformed = listOf("", " ", "{", """{"name":"a"} x""", """{"name":NaN}""", "{'name':'a'}")
            .map { it.encodeToByteArray() } +
            byteArrayOf(-1) + // no UTF-8
            """{"name":"a"}""".toByteArray(Charsets.UTF_16LE)
        for (body in malformed) {
            isProblem(post(body), 400, "Bad Request", "the body must be JSON in UTF-8")
        }
    }

    @Test
    fun namesAreShortStrings() { // C23, C36
        val names = listOf("null", "1", "\"\"", "\"\\ud800\"", "\"${"é".repeat(256)}\"", "\"a\",\"name\":1")
        for (json in names.map { "{\"name\":$it}" } + listOf("[]", "\"name\"", "{}", """{"Name":"a"}""")) {
            val answer = post(json.encodeToByteArray())
            isProblem(answer, 422, "Unprocessable Content", "name must be a string of 1 to 255 characters")
        }
    }

    @Test
    fun everythingRightNeedsTheDatabase() { // C38: whatever comes before the statement was accepted
        val book = """{"x":${"1".repeat(2000)},"name":1,"name":"${"😀".repeat(255)}"}"""
        val answers = listOf(
            post(book.encodeToByteArray(), "Application/JSON; charset=\"nonsense\""),
            send("GET", "/books/9007199254740991"),
            send("GET", "/sleep-query?ms=1"),
            send("GET", "/slow-query?ms=1"),
        )
        for (answer in answers) {
            isProblem(answer, 503, "Service Unavailable", "the database did not answer")
        }
    }

    @ParameterizedTest
    @CsvSource(
        "PORT|abc|PORT=\"abc\" is not a whole number from 1 to 65535",
        "SERVER_THREADS|0|SERVER_THREADS=\"0\" is not a whole number from 1 to 100000",
        "DB_POOL_SIZE|1|DB_POOL_SIZE=\"1\" is not a whole number from 2 to 10000",
        "WORKERS|01|WORKERS=\"01\" is not a whole number from 1 to 1024",
        "FANOUT|0|FANOUT=\"0\" is not coroutines or a whole number from 1 to 10000",
        "FANOUT|pool|FANOUT=\"pool\" is not coroutines or a whole number from 1 to 10000",
        "UPSTREAM_URL|http://a:1/|UPSTREAM_URL=\"http://a:1/\" is not http://host:port",
        "DATABASE_URL|''|DATABASE_URL=\"\" is not set: it must be mysql://user:password@host:port/database",
        "DATABASE_URL|mysql://u:secret@h:0/d|" +
            "DATABASE_URL=\"***@h:0/d\" is not mysql://user:password@host:port/database, percent-encoded",
        "DATABASE_URL|mysql://u:%ZZsecret@h/d|" +
            "DATABASE_URL=\"***@h/d\" is not mysql://user:password@host:port/database, percent-encoded",
        delimiter = '|',
    )
    fun aWrongSettingIsNamed(name: String, value: String, sentence: String) { // C42
        val wrong = assertThrows<Settings.Wrong> { Settings.from(environment(name to value)) }
        assertThat(wrong).hasMessage(sentence)
    }

    @Test
    fun aWrongSettingEndsTheStart() { // C42
        val process = run("PORT" to "abc")
        assertThat(process.errorReader().readText())
            .isEqualTo("PORT=\"abc\" is not a whole number from 1 to 65535" + System.lineSeparator())
        assertThat(process.waitFor()).isEqualTo(2)
    }

    @Test
    fun aSignalLetsRequestsFinish() { // C41
        val port = freePort()
        val process = run("PORT" to "$port")
        while (true) { // until it listens
            try {
                client.send(request(port, "/healthz").build(), BodyHandlers.discarding())
                break
            } catch (_: IOException) {
                assertThat(process.isAlive).isTrue()
                Thread.sleep(20)
            }
        }
        val stream = events(port, 60_000)
        val echo = EchoClient(client, port)
        val sleeping = client.sendAsync(request(port, "/sleep?ms=1000").build(), BodyHandlers.ofString())
        awaitInFlight(port, 3)
        process.destroy()
        assertThat(stream.body().readAllBytes().decodeToString()).isEqualTo("data: 0\n\n") // and a regular end
        assertThat(echo.next()).isEqualTo(1001)
        assertThat(sleeping.get().body()).isEqualTo("""{"slept_ms":1000}""")
        assertThat(process.waitFor(8, TimeUnit.SECONDS)).isTrue()
        assertThat(process.exitValue()).isEqualTo(143)
    }

    private fun run(vararg own: Pair<String, String>): Process {
        val java = Path.of(System.getProperty("java.home"), "bin", "java").toString()
        val builder = ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), "nosilverbullet.MainKt")
        builder.environment().putAll(environment(*own))
        return builder.start()
    }
}
