package nosilverbullet;

import javax.servlet.http.HttpServletRequest;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** C5 to C8: requests that do nothing, or wait. */
@RestController
class Waiting {
    static final class Slept {
        final int sleptMs;

        Slept(int sleptMs) {
            this.sleptMs = sleptMs;
        }
    }

    static final class SleptNow {
        final int sleptMs;
        final String now;

        SleptNow(int sleptMs, String now) {
            this.sleptMs = sleptMs;
            this.now = now;
        }
    }

    static final class Queried {
        final int queriedMs;

        Queried(int queriedMs) {
            this.queriedMs = queriedMs;
        }
    }

    private final Database database;

    Waiting(Database database) {
        this.database = database;
    }

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
