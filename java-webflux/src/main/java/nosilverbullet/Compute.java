package nosilverbullet;

import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.bind.annotation.GetMapping;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** C12, C13: requests that keep their thread busy, which is the event loop's. */
@JsonController
class Compute {
    record Computed(int rounds, long result) {}

    record Blocked(int blockedMs, boolean offloaded) {}

    @GetMapping("/compute")
    Mono<Computed> compute(ServerHttpRequest request) {
        int rounds = Parameters.number(request, "rounds", 1, 10_000_000);
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
    Mono<Blocked> block(ServerHttpRequest request) {
        int ms = Parameters.number(request, "ms", 0, 1000);
        boolean offload = Parameters.word(request, "offload", "false", "true").equals("true");
        var blocked = Mono.fromCallable(() -> {
            Thread.sleep(ms);
            return new Blocked(ms, offload);
        });
        return offload ? blocked.subscribeOn(Schedulers.boundedElastic()) : blocked;
    }
}
