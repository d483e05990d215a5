package bare

import org.springframework.boot.autoconfigure.SpringBootApplication
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration
import org.springframework.boot.runApplication
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.RestController

/** Answers /hello with Spring MVC and does nothing else: what the service is measured against by `just bare`. */
@SpringBootApplication(exclude = [DataSourceAutoConfiguration::class], proxyBeanMethods = false)
@RestController
class Bare {
    @GetMapping("/hello")
    fun hello() = "hello"
}

fun main() {
    runApplication<Bare>(
        "--spring.config.name=bare", // not the service's application.properties
        "--server.address=127.0.0.1",
        "--server.port=${System.getenv("PORT")}",
        "--server.tomcat.max-keep-alive-requests=-1", // else each 100th pays for a connection
    )
}
