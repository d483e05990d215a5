package nosilverbullet;

import io.netty.channel.ChannelOption;
import io.netty.util.NetUtil;
import java.time.Duration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.web.server.Shutdown;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.http.client.ReactorResourceFactory;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

@SpringBootApplication(proxyBeanMethods = false)
class Main {

    static final Duration KEEP_ALIVE = Duration.ofSeconds(75); // C62
    static final Duration BODY_LIMIT = Duration.ofSeconds(20); // C27
    static final Duration UPSTREAM_IDLE = Duration.ofHours(24); // C63
    static final int MAX_HEAD_BYTES = 16_384; // C26
    static final int BACKLOG = Math.min(4096, NetUtil.SOMAXCONN); // C62

    public static void main(String[] arguments) {
        try {
            start(Settings.from(System.getenv()));
        } catch (Settings.Wrong wrong) {
            System.err.println(wrong.getMessage());
            System.exit(2); // C42
        }
    }

    static ConfigurableApplicationContext start(Settings settings) {
        var application = new SpringApplication(Main.class);
        application.addInitializers(
                context -> ((GenericApplicationContext) context).registerBean(Settings.class, () -> settings));
        return application.run();
    }

    /** C64: one set of event loops for the server, the client and the driver; Reactor Netty's own sets have at least four each. */
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

    @Bean
    Statements database(Settings settings, ReactorResourceFactory resources) {
        return settings.databaseClient() == Settings.DatabaseClient.R2DBC
                ? new Database(settings, resources)
                : new JdbcDatabase(settings);
    }

    @Bean
    WebServerFactoryCustomizer<NettyReactiveWebServerFactory> server(Settings settings) {
        return factory -> {
            factory.setAddress(settings.host());
            factory.setPort(settings.port());
            factory.setShutdown(Shutdown.GRACEFUL); // C41
            factory.addServerCustomizers(http -> http.option(ChannelOption.SO_BACKLOG, BACKLOG)
                    .idleTimeout(KEEP_ALIVE) // C62
                    .requestTimeout(BODY_LIMIT)
                    .httpRequestDecoder(decoder ->
                            decoder.maxInitialLineLength(MAX_HEAD_BYTES).maxHeaderSize(MAX_HEAD_BYTES)));
        };
    }

    @Bean
    JsonMapper json() {
        // C23: what fits into a body is read, however long its numbers and keys.
        var limits = StreamReadConstraints.builder()
                .maxNumberLength(Books.MAX_BODY_BYTES)
                .maxNameLength(Books.MAX_BODY_BYTES)
                .build();
        var factory = JsonFactory.builder()
                .streamReadConstraints(limits)
                .disable(JsonWriteFeature.WRITE_HEX_UPPER_CASE) // "\u001f", as everywhere else
                .build();
        return JsonMapper.builder(factory)
                .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
                .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
                .build();
    }
}
