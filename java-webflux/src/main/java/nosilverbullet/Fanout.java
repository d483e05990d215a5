package nosilverbullet;

import io.netty.channel.ChannelOption;
import java.net.URI;
import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** C11: calls that are awaited without a thread. */
@JsonController
record Fanout(
        Settings settings,
        WebClient client,
        @Value("${upstream.handover}") boolean handover) {
    record Fanned(int calls, String mode, long completed) {}

    /** C63 */
    @Bean
    static WebClient upstreamClient(Settings settings, ReactorResourceFactory resources) {
        int limitMs = settings.upstreamTimeoutMs();
        var connector = new ReactorClientHttpConnector(
                resources,
                http -> http.disableRetry(true)
                        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, limitMs)
                        .responseTimeout(Duration.ofMillis(limitMs)));
        return WebClient.builder().clientConnector(connector).build();
    }

    @GetMapping("/fanout")
    Mono<Fanned> fanout(ServerHttpRequest request) {
        int calls = Parameters.number(request, "calls", 1, 1000);
        int ms = Parameters.ms(request);
        var mode = Parameters.word(request, "mode", "concurrent", "sequential");
        var call = call(URI.create(settings.upstream() + "/delay?ms=" + ms));
        var all = Flux.range(0, calls);
        var answers = mode.equals("concurrent") ? all.flatMap(each -> call, calls) : all.concatMap(each -> call);
        return answers.count().map(completed -> new Fanned(calls, mode, completed));
    }

    /** C37: whatever goes wrong is the upstream's silence. */
    private Mono<ResponseEntity<Void>> call(URI uri) {
        var answer = client.get().uri(uri).retrieve().toBodilessEntity();
        return (handover ? answer.publishOn(Schedulers.boundedElastic()) : answer)
                .filter(told -> told.getStatusCode() == HttpStatus.OK)
                .single() // which fails where none is left
                .onErrorMap(cause -> Problems.of(HttpStatus.BAD_GATEWAY, "the upstream did not answer"));
    }
}
