package nosilverbullet;

import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.core5.http.HttpResponse;
import org.apache.hc.core5.util.Timeout;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;

/** C11: a blocking call, in a thread of its own where it is not the only one. */
@JsonController
record Fanout(Settings settings, Upstream upstream, ExecutorService threads) {
    record Fanned(int calls, String mode, int completed) {}

    /** A call that is waited for: the status of its answer. */
    interface Upstream {
        int status(URI uri) throws IOException, InterruptedException;
    }

    /**
     * C63. Blocking: on virtual threads that costs about half of what the JDK's own client does. Minimal: it neither
     * retries nor follows redirects, and it keeps connections for as long as the upstream does.
     */
    @Bean
    static CloseableHttpClient upstreamClient(Settings settings) {
        var limit = Timeout.ofMilliseconds(settings.upstreamTimeoutMs());
        var limits = ConnectionConfig.custom().setConnectTimeout(limit).setSocketTimeout(limit);
        return HttpClients.createMinimal(PoolingHttpClientConnectionManagerBuilder.create()
                .setMaxConnTotal(Integer.MAX_VALUE)
                .setMaxConnPerRoute(Integer.MAX_VALUE)
                .setDefaultConnectionConfig(limits.build())
                .build());
    }

    @Bean
    static Upstream upstream(CloseableHttpClient client) {
        return uri -> client.execute(new HttpGet(uri), HttpResponse::getCode);
    }

    @GetMapping("/fanout")
    Fanned fanout(HttpServletRequest request) throws Exception {
        int calls = Parameters.number(request, "calls", 1, 1000);
        int ms = Parameters.ms(request);
        var mode = Parameters.word(request, "mode", "concurrent", "sequential");
        var uri = URI.create(settings.upstream() + "/delay?ms=" + ms);
        Callable<Boolean> next = mode.equals("concurrent") ? atOnce(calls, uri) : () -> succeeds(uri);
        for (int completed = 0; completed < calls; completed++) {
            if (!next.call()) { // nobody waits for the others any more
                throw Problems.of(HttpStatus.BAD_GATEWAY, "the upstream did not answer"); // C37
            }
        }
        return new Fanned(calls, mode, calls);
    }

    /** Calls that are all under way; what it returns waits for the next of them to end. */
    private Callable<Boolean> atOnce(int calls, URI uri) {
        var answers = new ExecutorCompletionService<Boolean>(threads);
        for (int call = 0; call < calls; call++) {
            answers.submit(() -> succeeds(uri));
        }
        return () -> answers.take().get();
    }

    private boolean succeeds(URI uri) throws InterruptedException {
        try {
            return upstream.status(uri) == 200;
        } catch (IOException silent) {
            return false;
        }
    }
}
