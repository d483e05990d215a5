package nosilverbullet;

import jakarta.servlet.http.HttpServletRequest;
import org.springframework.web.bind.annotation.GetMapping;

/** C12, C13: requests that keep their thread busy. */
@JsonController
class Compute {
    record Computed(int rounds, long result) {}

    record Blocked(int blockedMs, boolean offloaded) {}

    @GetMapping("/compute")
    Computed compute(HttpServletRequest request) {
        int rounds = Parameters.number(request, "rounds", 1, 10_000_000);
        int x = (int) 2463534242L;
        for (int round = 0; round < rounds; round++) {
            x ^= x << 13;
            x ^= x >>> 17;
            x ^= x << 5;
        }
        return new Computed(rounds, Integer.toUnsignedLong(x));
    }

    /** The thread is the request's own, so there is nothing to take the sleep away from: both ways are one. */
    @GetMapping("/block")
    Blocked block(HttpServletRequest request) throws InterruptedException {
        int ms = Parameters.number(request, "ms", 0, 1000);
        var offload = Parameters.word(request, "offload", "false", "true");
        Thread.sleep(ms);
        return new Blocked(ms, offload.equals("true"));
    }
}
