package nosilverbullet;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/** Wires settings, pool, client and server; Spring Boot itself answers SIGTERM and SIGINT (C41). */
@SpringBootApplication(proxyBeanMethods = false)
class Main {
    public static void main(String[] arguments) {
        try {
            start(Settings.from(System.getenv()));
        } catch (Settings.Wrong wrong) {
            System.err.println(wrong.getMessage()); // C42
            System.exit(2);
        }
    }

    static ConfigurableApplicationContext start(Settings settings) {
        // Read once by the classes they belong to, so they are set before any of these is loaded.
        System.setProperty("jdk.virtualThreadScheduler.parallelism", "" + settings.workers()); // C64
        System.setProperty("com.zaxxer.hikari.aliveBypassWindowMs", "" + Long.MAX_VALUE); // C60: no test on borrow
        System.setProperty("com.zaxxer.hikari.timeoutMs.floor", "1"); // DB_ACQUIRE_TIMEOUT_MS may be below 250

        var application = new SpringApplication(Main.class);
        application.addInitializers(context -> context.getBeanFactory().registerSingleton("settings", settings));
        return application.run(
                "--server.address=" + settings.host().getHostAddress(),
                "--server.port=" + settings.port(),
                "--server.tomcat.threads.max=" + settings.serverThreads());
    }

    /** For whatever a request does beside its own thread. */
    @Bean(destroyMethod = "shutdownNow")
    ExecutorService threads(@Value("${spring.threads.virtual.enabled}") boolean virtual) {
        return virtual ? Executors.newVirtualThreadPerTaskExecutor() : Executors.newCachedThreadPool();
    }
}
