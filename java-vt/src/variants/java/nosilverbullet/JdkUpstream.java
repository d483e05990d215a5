package nosilverbullet;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Primary;
import org.springframework.stereotype.Component;

/** The JDK's own client: who sends waits in its own thread, and the client has as many besides as it finds work for. */
@Component
@Primary
@ConditionalOnProperty(name = "upstream.client", havingValue = "jdk")
final class JdkUpstream implements Fanout.Upstream {
    private final Duration limit;
    private final HttpClient client;

    /** C63. Its properties are read once, so they are set before the first client is made. */
    JdkUpstream(Settings settings) {
        System.setProperty("jdk.httpclient.keepalive.timeout", "86400"); // else 30 s
        System.setProperty("jdk.httpclient.redirects.retrylimit", "1"); // tries in all: none again
        limit = Duration.ofMillis(settings.upstreamTimeoutMs());
        client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(limit)
                .build();
    }

    @Override
    public int status(URI uri) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(uri).timeout(limit).build();
        return client.send(request, BodyHandlers.discarding()).statusCode();
    }
}
