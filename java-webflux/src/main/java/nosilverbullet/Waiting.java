package nosilverbullet;

import java.time.Duration;
import org.springframework.http.MediaType;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** C5 to C8: requests that do nothing, or wait. */
@RestController
@RequestMapping(produces = MediaType.APPLICATION_JSON_VALUE)
class Waiting {
    record Slept(int sleptMs) {}

    record SleptNow(int sleptMs, String now) {}

    record Queried(int queriedMs) {}

    private final Statements database;

    Waiting(Statements database) {
        this.database = database;
    }

    @GetMapping(path = "/hello", produces = MediaType.TEXT_PLAIN_VALUE)
    Mono<String> hello() {
        return Mono.just("hello");
    }

    @GetMapping("/sleep")
    Mono<Slept> sleep(@RequestParam MultiValueMap<String, String> query) {
        int ms = Parameters.ms(query);
        return Mono.delay(Duration.ofMillis(ms)).thenReturn(new Slept(ms));
    }

    @GetMapping("/sleep-query")
    Mono<SleptNow> sleepQuery(@RequestParam MultiValueMap<String, String> query) {
        int ms = Parameters.ms(query);
        return Mono.delay(Duration.ofMillis(ms)).then(database.now()).map(now -> new SleptNow(ms, now));
    }

    @GetMapping("/slow-query")
    Mono<Queried> slowQuery(@RequestParam MultiValueMap<String, String> query) {
        int ms = Parameters.ms(query);
        return database.sleep(ms).thenReturn(new Queried(ms));
    }
}
