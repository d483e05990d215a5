package bare;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** Answers /hello with WebFlux and does nothing else: what the service is measured against by {@code just bare}. */
@SpringBootApplication
@RestController
public class Bare {
    public static void main(String[] arguments) {
        SpringApplication.run(
                Bare.class,
                "--spring.config.name=bare", // not the service's application.properties
                "--server.address=127.0.0.1",
                "--server.port=" + System.getenv("PORT"));
    }

    @GetMapping("/hello")
    Mono<String> hello() {
        return Mono.just("hello");
    }
}
