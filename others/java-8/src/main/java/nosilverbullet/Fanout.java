package nosilverbullet;

import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.servlet.http.HttpServletRequest;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.apache.hc.core5.util.TimeValue;
import org.apache.hc.core5.util.Timeout;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** C11: a blocking call, in a thread of its own where it is not the only one. */
@RestController
class Fanout {
    static final class Fanned {
        final int calls;
        final String mode;
        final int completed;

        Fanned(int calls, String mode, int completed) {
            this.calls = calls;
            this.mode = mode;
            this.completed = completed;
        }
    }

    static final int IDLE_S = 86_400;

    private final Settings settings;
    private final CloseableHttpClient upstream;
    private final ExecutorService threads;

    Fanout(Settings settings, CloseableHttpClient upstream, ExecutorService threads) {
        this.settings = settings;
        this.upstream = upstream;
        this.threads = threads;
    }

    /** C63. */
    static CloseableHttpClient client(Settings settings) {
        Timeout limit = Timeout.ofMilliseconds(settings.upstreamTimeoutMs);
        PoolingHttpClientConnectionManager connections = PoolingHttpClientConnectionManagerBuilder.create()
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
    Fanned fanout(HttpServletRequest request) throws InterruptedException {
        int calls = Parameters.number(request, "calls", 1, 1000);
        int ms = Parameters.ms(request);
        boolean sequential = Parameters.second(request, "mode", "concurrent", "sequential");
        URI uri = settings.upstream.resolve("/delay?ms=" + ms);
        int completed = sequential ? oneByOne(calls, uri) : atOnce(calls, uri);
        return new Fanned(calls, sequential ? "sequential" : "concurrent", completed);
    }

    private int oneByOne(int calls, URI uri) {
        int completed = 0;
        while (completed < calls) {
            completed += call(new HttpGet(uri));
        }
        return completed;
    }

    private int atOnce(int calls, URI uri) throws InterruptedException {
        List<HttpGet> begun =
                Stream.generate(() -> new HttpGet(uri)).limit(calls).collect(Collectors.toList());
        ExecutorCompletionService<Integer> answered = new ExecutorCompletionService<>(threads);
        int completed = 0;
        try {
            begun.forEach(get -> answered.submit(() -> call(get)));
            while (completed < calls) {
                completed += answered.take().get();
            }
            return completed;
        } catch (ExecutionException failure) {
            throw Problem.of(failure.getCause());
        } finally {
            if (completed < calls) {
                begun.forEach(HttpGet::cancel); // nobody waits for the others any more
            }
        }
    }

    /** Returns 1, for one completed call (C37). */
    private int call(HttpGet get) {
        int status;
        try {
            status = upstream.execute(get, answer -> {
                EntityUtils.consume(answer.getEntity()); // gives the connection back
                return answer.getCode();
            });
        } catch (IOException failure) {
            throw Problem.upstream(failure);
        }
        if (status != 200) {
            throw Problem.upstream(null);
        }
        return 1;
    }
}
