package nosilverbullet;

import jakarta.servlet.http.HttpServletRequest;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;

/** C5 to C8: requests that do nothing, or wait. */
@JsonController
record Waiting(Database database) {
    record Slept(int sleptMs) {}

    record SleptNow(int sleptMs, String now) {}

    record Queried(int queriedMs) {}

    @GetMapping(path = "/hello", produces = MediaType.TEXT_PLAIN_VALUE)
    String hello() {
        return "hello";
    }

    @GetMapping("/sleep")
    Slept sleep(HttpServletRequest request) throws InterruptedException {
        int ms = Parameters.ms(request);
        Thread.sleep(ms);
        return new Slept(ms);
    }

    @GetMapping("/sleep-query")
    SleptNow sleepQuery(HttpServletRequest request) throws InterruptedException {
        int ms = Parameters.ms(request);
        Thread.sleep(ms);
        return new SleptNow(ms, database.now());
    }

    @GetMapping("/slow-query")
    Queried slowQuery(HttpServletRequest request) {
        int ms = Parameters.ms(request);
        database.sleep(ms);
        return new Queried(ms);
    }
}
