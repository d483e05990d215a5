package nosilverbullet;

import java.time.Duration;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.bind.annotation.GetMapping;
import reactor.core.publisher.Mono;

/** C5 to C8: requests that do nothing, or wait. */
@JsonController
record Waiting(Database database) {
    record Slept(int sleptMs) {}

    record SleptNow(int sleptMs, String now) {}

    record Queried(int queriedMs) {}

    @GetMapping(path = "/hello", produces = MediaType.TEXT_PLAIN_VALUE)
    Mono<String> hello() {
        return Mono.just("hello");
    }

    @GetMapping("/sleep")
    Mono<Slept> sleep(ServerHttpRequest request) {
        int ms = Parameters.ms(request);
        return Mono.delay(Duration.ofMillis(ms)).thenReturn(new Slept(ms));
    }

    @GetMapping("/sleep-query")
    Mono<SleptNow> sleepQuery(ServerHttpRequest request) {
        int ms = Parameters.ms(request);
        return Mono.delay(Duration.ofMillis(ms)).then(database.now()).map(now -> new SleptNow(ms, now));
    }

    @GetMapping("/slow-query")
    Mono<Queried> slowQuery(ServerHttpRequest request) {
        int ms = Parameters.ms(request);
        return database.sleep(ms).thenReturn(new Queried(ms));
    }
}
