package bare;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Answers /hello with Spring MVC and does nothing else: what the service is measured against by {@code just bare}. */
@SpringBootApplication(exclude = DataSourceAutoConfiguration.class)
@RestController
public class Bare {
    public static void main(String[] arguments) {
        SpringApplication.run(
                Bare.class,
                "--spring.config.name=bare", // not the service's application.properties
                "--server.address=127.0.0.1",
                "--server.port=" + System.getenv("PORT"),
                "--server.tomcat.max-keep-alive-requests=-1"); // else each 100th pays for a connection
    }

    @GetMapping("/hello")
    String hello() {
        return "hello";
    }
}
