package nosilverbullet;

import io.netty.channel.ChannelOption;
import java.net.URI;
import java.time.Duration;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** C11: calls that are awaited without a thread. */
@RestController
@RequestMapping(produces = MediaType.APPLICATION_JSON_VALUE)
class Fanout {
    record Fanned(int calls, String mode, long completed) {}

    private final String upstream;
    private final WebClient client;
    private final boolean handover;

    Fanout(Settings settings, ReactorResourceFactory resources) {
        this.upstream = settings.upstream();
        this.client = client(settings.upstreamTimeoutMs(), resources);
        this.handover = settings.upstreamHandover();
    }

    /** C63 */
    private static WebClient client(int timeoutMs, ReactorResourceFactory resources) {
        var connector = new ReactorClientHttpConnector(
                resources,
                http -> http.disableRetry(true)
                        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, timeoutMs)
                        .responseTimeout(Duration.ofMillis(timeoutMs)));
        return WebClient.builder().clientConnector(connector).build();
    }

    @GetMapping("/fanout")
    Mono<Fanned> fanout(@RequestParam MultiValueMap<String, String> query) {
        int calls = Parameters.number(query, "calls", 1, 1000);
        int ms = Parameters.ms(query);
        var mode = Parameters.word(query, "mode", "concurrent", "sequential");
        var call = call(URI.create(upstream + "/delay?ms=" + ms));
        var all = Flux.range(0, calls);
        var answers = mode.equals("concurrent") ? all.flatMap(each -> call, calls) : all.concatMap(each -> call);
        return answers.count().map(completed -> new Fanned(calls, mode, completed));
    }

    /** C37: whatever goes wrong is the upstream's silence. */
    private Mono<ResponseEntity<Void>> call(URI uri) {
        var answer = client.get().uri(uri).retrieve().toBodilessEntity();
        return (handover ? answer.publishOn(Schedulers.boundedElastic()) : answer)
                .map(told -> {
                    if (told.getStatusCode() != HttpStatus.OK) {
                        throw silent();
                    }
                    return told;
                })
                .onErrorMap(cause -> silent());
    }

    private static Problem silent() {
        return new Problem(HttpStatus.BAD_GATEWAY, "the upstream did not answer");
    }
}
