package nosilverbullet;

import java.time.Duration;
import java.time.format.DateTimeFormatter;
import java.util.concurrent.TimeUnit;
import org.springframework.http.MediaType;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

@RestController
class Waiting {

    private static final DateTimeFormatter MICROSECONDS = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSS");
    private static final double MS_PER_SECOND = TimeUnit.SECONDS.toMillis(1);

    private final Statements database;

    Waiting(Statements database) {
        this.database = database;
    }

    record Slept(int sleptMs) {}

    record SleptAndAsked(int sleptMs, String now) {}

    record Queried(int queriedMs) {}

    /** C5. */
    @GetMapping(path = "/hello", produces = MediaType.TEXT_PLAIN_VALUE)
    Mono<String> hello() {
        return Mono.just("hello");
    }

    /** C6. */
    @GetMapping("/sleep")
    Mono<Slept> sleep(@RequestParam MultiValueMap<String, String> query) {
        var ms = Parameters.ms(query, Parameters.MAX_WAIT_MS);
        return Mono.delay(Duration.ofMillis(ms)).thenReturn(new Slept(ms));
    }

    /** C7. */
    @GetMapping("/sleep-query")
    Mono<SleptAndAsked> sleepQuery(@RequestParam MultiValueMap<String, String> query) {
        var ms = Parameters.ms(query, Parameters.MAX_WAIT_MS);
        return Mono.delay(Duration.ofMillis(ms))
                .then(database.now())
                .map(now -> new SleptAndAsked(ms, MICROSECONDS.format(now)));
    }

    /** C8. */
    @GetMapping("/slow-query")
    Mono<Queried> slowQuery(@RequestParam MultiValueMap<String, String> query) {
        var ms = Parameters.ms(query, Parameters.MAX_WAIT_MS);
        return database.sleep(ms / MS_PER_SECOND).thenReturn(new Queried(ms));
    }
}
