package nosilverbullet

import com.zaxxer.hikari.HikariDataSource
import org.springframework.boot.SpringApplication
import org.springframework.boot.autoconfigure.SpringBootApplication
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory
import org.springframework.boot.web.server.WebServerFactoryCustomizer
import org.springframework.context.ApplicationContextInitializer
import org.springframework.context.ConfigurableApplicationContext
import org.springframework.context.annotation.Bean
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors
import kotlin.system.exitProcess

fun main() {
    try {
        start(Settings.from(System.getenv()))
    } catch (wrong: Settings.Wrong) {
        System.err.println(wrong.message) // C42
        exitProcess(2)
    }
}

fun start(settings: Settings): ConfigurableApplicationContext {
    // Read once by the classes they belong to, so they are set before any of these is loaded.
    System.setProperty("com.zaxxer.hikari.aliveBypassWindowMs", "${Long.MAX_VALUE}") // C60: no test on borrow
    System.setProperty("com.zaxxer.hikari.timeoutMs.floor", "1") // DB_ACQUIRE_TIMEOUT_MS may be below 250

    val application = SpringApplication(Main::class.java)
    application.addInitializers(
        ApplicationContextInitializer<ConfigurableApplicationContext> { context ->
            context.beanFactory.registerSingleton("settings", settings)
        },
    )
    return application.run(
        "--server.address=${settings.host.hostAddress}",
        "--server.port=${settings.port}",
        "--server.tomcat.accept-count=${settings.backlog}",
        "--server.tomcat.threads.max=${settings.serverThreads}",
    )
}

/** Wires settings, pool, client and server; Spring Boot itself answers SIGTERM and SIGINT (C41). */
@SpringBootApplication(proxyBeanMethods = false)
class Main {
    /** What Spring Boot has no property for; it runs after Spring Boot's own, which knows no -1. */
    @Bean
    fun tomcat() = WebServerFactoryCustomizer<TomcatServletWebServerFactory> { factory ->
        factory.addConnectorCustomizers({ connector ->
            connector.allowTrace = true // C21: not to be answered by Tomcat; Routes makes it 405
            connector.setProperty("maxConnections", "-1") // C62: none of its own
            connector.setProperty("continueResponseTiming", "onRead") // C23: not before a 413
        })
    }

    @Bean
    fun dataSource(settings: Settings): HikariDataSource = pool(settings)

    /** For what a request does beside its own thread, apart from its calls of the upstream. */
    @Bean(destroyMethod = "shutdownNow")
    fun threads(): ExecutorService = Executors.newCachedThreadPool()

    @Bean
    fun upstream(settings: Settings): Upstream =
        settings.fanoutThreads?.let { PooledUpstream(settings, it) } ?: SuspendingUpstream(settings)
}
