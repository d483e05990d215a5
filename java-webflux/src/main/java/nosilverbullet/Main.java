package nosilverbullet;

import io.netty.channel.ChannelOption;
import java.time.Duration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.reactor.netty.NettyServerCustomizer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.http.client.ReactorResourceFactory;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;

/** Wires settings, pool, client and server; Spring Boot itself answers SIGTERM and SIGINT (C41). */
@SpringBootApplication(proxyBeanMethods = false)
class Main {
    static final Duration UPSTREAM_IDLE = Duration.ofHours(24); // C63

    public static void main(String[] arguments) {
        try {
            start(Settings.from(System.getenv()));
        } catch (Settings.Wrong wrong) {
            System.err.println(wrong.getMessage()); // C42
            System.exit(2);
        }
    }

    static ConfigurableApplicationContext start(Settings settings) {
        var application = new SpringApplication(Main.class);
        application.addInitializers(context -> context.getBeanFactory().registerSingleton("settings", settings));
        return application.run(
                "--server.address=" + settings.host().getHostAddress(), "--server.port=" + settings.port());
    }

    /** C64: the event loops of server, client and driver. Reactor Netty's own are four at least, for each of them. */
    @Bean
    ReactorResourceFactory reactorResources(Settings settings) {
        var resources = new ReactorResourceFactory();
        resources.setUseGlobalResources(false);
        resources.setLoopResources(LoopResources.create("reactor-http", settings.workers(), true));
        resources.setConnectionProvider(ConnectionProvider.builder("upstream")
                .maxConnections(Integer.MAX_VALUE) // C63
                .maxIdleTime(UPSTREAM_IDLE)
                .build());
        return resources;
    }

    /** C27: a timer for a body on the loops of the server. Reactor's own timers would wake a thread for each request. */
    @Bean
    Scheduler loops(ReactorResourceFactory resources) {
        return Schedulers.fromExecutorService(resources.getLoopResources().onServer(LoopResources.DEFAULT_NATIVE));
    }

    /** What Spring Boot has no property for. */
    @Bean
    NettyServerCustomizer netty() {
        return http -> http.option(ChannelOption.SO_BACKLOG, 4096); // C62
    }
}
