package nosilverbullet;

import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.core5.http.HttpResponse;
import org.apache.hc.core5.util.TimeValue;
import org.apache.hc.core5.util.Timeout;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** C11: a blocking call, in a thread of its own where it is not the only one. */
@RestController
@RequestMapping(produces = MediaType.APPLICATION_JSON_VALUE)
class Fanout {
    record Fanned(int calls, String mode, int completed) {}

    static final int IDLE_S = 86_400;

    private final String upstream;
    private final CloseableHttpClient client;
    private final ExecutorService threads;

    Fanout(Settings settings, ExecutorService threads) {
        this.upstream = settings.upstream();
        this.client = client(settings.upstreamTimeoutMs());
        this.threads = threads;
    }

    /** C63. Blocking: on virtual threads that costs about half of what the JDK's own client does. */
    private static CloseableHttpClient client(int timeoutMs) {
        var limit = Timeout.ofMilliseconds(timeoutMs);
        var connections = PoolingHttpClientConnectionManagerBuilder.create()
                .setMaxConnTotal(Integer.MAX_VALUE)
                .setMaxConnPerRoute(Integer.MAX_VALUE)
                .setDefaultConnectionConfig(
                        ConnectionConfig.custom().setConnectTimeout(limit).build())
                .build();
        return HttpClients.custom()
                .setConnectionManager(connections)
                .setDefaultRequestConfig(
                        RequestConfig.custom().setResponseTimeout(limit).build())
                .setKeepAliveStrategy((answer, context) -> TimeValue.ofSeconds(IDLE_S))
                .disableAutomaticRetries()
                .disableRedirectHandling()
                .disableContentCompression()
                .disableCookieManagement()
                .disableAuthCaching()
                .build();
    }

    @GetMapping("/fanout")
    Fanned fanout(HttpServletRequest request) throws InterruptedException, ExecutionException {
        int calls = Parameters.number(request, "calls", 1, 1000);
        int ms = Parameters.ms(request);
        var mode = Parameters.word(request, "mode", "concurrent", "sequential");
        var uri = URI.create(upstream + "/delay?ms=" + ms);
        int completed = mode.equals("concurrent") ? atOnce(calls, uri) : oneByOne(calls, uri);
        if (completed < calls) {
            throw new Problem(HttpStatus.BAD_GATEWAY, "the upstream did not answer"); // C37
        }
        return new Fanned(calls, mode, completed);
    }

    private int oneByOne(int calls, URI uri) {
        int completed = 0;
        while (completed < calls && succeeds(uri)) {
            completed++;
        }
        return completed;
    }

    /** Until all are there, or one has failed: then nobody waits for the others any more. */
    private int atOnce(int calls, URI uri) throws InterruptedException, ExecutionException {
        var answers = new ExecutorCompletionService<Boolean>(threads);
        for (int call = 0; call < calls; call++) {
            answers.submit(() -> succeeds(uri));
        }
        int completed = 0;
        while (completed < calls && answers.take().get()) {
            completed++;
        }
        return completed;
    }

    private boolean succeeds(URI uri) {
        try {
            return client.execute(new HttpGet(uri), HttpResponse::getCode) == 200;
        } catch (IOException silent) {
            return false;
        }
    }
}
