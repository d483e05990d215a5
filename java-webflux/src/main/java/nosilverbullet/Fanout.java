package nosilverbullet;

import io.netty.channel.ChannelOption;
import java.net.URI;
import org.springframework.http.HttpStatus;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

@RestController
class Fanout {

    private static final String CONCURRENT = "concurrent";

    private final String upstream;
    private final WebClient client;
    private final boolean handover;

    Fanout(Settings settings, ReactorResourceFactory resources) {
        upstream = settings.upstream();
        handover = settings.upstreamHandover();
        var timeout = settings.upstreamTimeout();
        var connector = new ReactorClientHttpConnector(
                resources,
                http -> http.disableRetry(true) // C63
                        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) timeout.toMillis())
                        .responseTimeout(timeout));
        client = WebClient.builder().clientConnector(connector).build();
    }

    record Fanned(int calls, String mode, long completed) {}

    /** C11. */
    @GetMapping("/fanout")
    Mono<Fanned> fanout(@RequestParam MultiValueMap<String, String> query) {
        var calls = Parameters.calls(query);
        var ms = Parameters.ms(query, Parameters.MAX_WAIT_MS);
        var mode = Parameters.choice(query, "mode", CONCURRENT, "sequential");
        var delay = delay(ms);
        var all = Flux.range(0, calls);
        var answers = mode.equals(CONCURRENT) ? all.flatMap(call -> delay, calls) : all.concatMap(call -> delay);
        return answers.count().map(completed -> new Fanned(calls, mode, completed));
    }

    /** One call. C37: whatever goes wrong is the upstream's silence. */
    private Mono<HttpStatus> delay(int ms) {
        var answer = client.get()
                .uri(URI.create(upstream + "/delay?ms=" + ms))
                .retrieve()
                .toBodilessEntity();
        return (handover ? answer.publishOn(Schedulers.boundedElastic()) : answer)
                .<HttpStatus>handle((told, sink) -> {
                    if (told.getStatusCode() == HttpStatus.OK) {
                        sink.next(HttpStatus.OK);
                    } else {
                        sink.error(Problem.upstreamSilent());
                    }
                })
                .onErrorMap(cause -> Problem.upstreamSilent());
    }
}
