package nosilverbullet;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/** The JDK's own client: who sends waits in its own thread, and the client has threads besides, as many as it finds work for. */
record JdkUpstream(HttpClient client, Duration limit) implements Fanout.Upstream {
    static final int IDLE_S = 86_400;

    /** C63. Its properties are read once, so they are set before the first client is made. */
    static JdkUpstream within(int limitMs) {
        System.setProperty("jdk.httpclient.keepalive.timeout", "" + IDLE_S); // else 30 s
        System.setProperty("jdk.httpclient.redirects.retrylimit", "1"); // tries in all: none again
        var limit = Duration.ofMillis(limitMs);
        var client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(limit);
        return new JdkUpstream(client.build(), limit);
    }

    @Override
    public int status(URI uri) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(uri).timeout(limit).build();
        return client.send(request, BodyHandlers.discarding()).statusCode();
    }
}
