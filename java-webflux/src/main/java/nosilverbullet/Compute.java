package nosilverbullet;

import java.time.Duration;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

@RestController
class Compute {

    private static final int SEED = (int) 2_463_534_242L;

    record Computed(int rounds, long result) {}

    record Blocked(int blockedMs, boolean offloaded) {}

    /** C12: in the handler, so on the event loop. */
    @GetMapping("/compute")
    Mono<Computed> compute(@RequestParam MultiValueMap<String, String> query) {
        var rounds = Parameters.rounds(query);
        return Mono.just(new Computed(rounds, xorshift(rounds)));
    }

    /** C13: blocks the event loop, as one mistake would; the remedy is a thread made for blocking. */
    @GetMapping("/block")
    Mono<Blocked> block(@RequestParam MultiValueMap<String, String> query) throws InterruptedException {
        var ms = Parameters.ms(query, Parameters.MAX_BLOCK_MS);
        var offload = Boolean.parseBoolean(Parameters.choice(query, "offload", "false", "true"));
        if (offload) {
            return Mono.fromCallable(() -> blocked(ms, true)).subscribeOn(Schedulers.boundedElastic());
        }
        return Mono.just(blocked(ms, false));
    }

    private static long xorshift(int rounds) {
        var x = SEED;
        for (int round = 0; round < rounds; round++) {
            x ^= x << 13;
            x ^= x >>> 17;
            x ^= x << 5;
        }
        return Integer.toUnsignedLong(x);
    }

    private static Blocked blocked(int ms, boolean offloaded) throws InterruptedException {
        Thread.sleep(Duration.ofMillis(ms));
        return new Blocked(ms, offloaded);
    }
}
