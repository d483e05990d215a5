package nosilverbullet;

import org.springframework.http.MediaType;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** C12, C13: requests that keep their thread busy, which is the event loop's. */
@RestController
@RequestMapping(produces = MediaType.APPLICATION_JSON_VALUE)
class Compute {
    record Computed(int rounds, long result) {}

    record Blocked(int blockedMs, boolean offloaded) {}

    @GetMapping("/compute")
    Mono<Computed> compute(@RequestParam MultiValueMap<String, String> query) {
        int rounds = Parameters.number(query, "rounds", 1, 10_000_000);
        int x = (int) 2463534242L;
        for (int round = 0; round < rounds; round++) {
            x ^= x << 13;
            x ^= x >>> 17;
            x ^= x << 5;
        }
        return Mono.just(new Computed(rounds, Integer.toUnsignedLong(x)));
    }

    /** Blocks the event loop, as one mistake would; the remedy is a thread made for blocking. */
    @GetMapping("/block")
    Mono<Blocked> block(@RequestParam MultiValueMap<String, String> query) throws InterruptedException {
        int ms = Parameters.number(query, "ms", 0, 1000);
        var offload = Parameters.word(query, "offload", "false", "true");
        if (offload.equals("true")) {
            return Mono.fromCallable(() -> blocked(ms, true)).subscribeOn(Schedulers.boundedElastic());
        }
        return Mono.just(blocked(ms, false));
    }

    private static Blocked blocked(int ms, boolean offloaded) throws InterruptedException {
        Thread.sleep(ms);
        return new Blocked(ms, offloaded);
    }
}
