package nosilverbullet;

import static io.r2dbc.spi.ConnectionFactoryOptions.CONNECT_TIMEOUT;
import static io.r2dbc.spi.ConnectionFactoryOptions.SSL;

import io.asyncer.r2dbc.mysql.MySqlConnectionFactoryProvider;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryOptions;
import io.r2dbc.spi.ValidationDepth;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;
import reactor.pool.InstrumentedPool;
import reactor.pool.PoolBuilder;
import reactor.pool.PooledRef;

/** C60: the connections. Reactor Pool without r2dbc-pool above it, because that lets the driver ping at each return. */
final class Pool {
    private static final Duration CONNECT_WITHIN = Duration.ofSeconds(5);
    private static final Duration LOGIN_WITHIN = Duration.ofSeconds(30);
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private Pool() {}

    static InstrumentedPool<Connection> of(Settings settings, LoopResources loops) {
        // The driver decodes a plus as a blank.
        var url = ConnectionFactoryOptions.parse("r2dbc:" + settings.database().replace("+", "%2B"));
        var factory = ConnectionFactories.get(url.mutate()
                .option(SSL, false)
                .option(CONNECT_TIMEOUT, CONNECT_WITHIN)
                .option(MySqlConnectionFactoryProvider.TCP_NO_DELAY, true)
                .option(MySqlConnectionFactoryProvider.LOOP_RESOURCES, loops)
                .build());
        // Connecting from a thread that is no event loop spreads the connections evenly over the loops.
        var connect = Mono.defer(() -> connection(factory)).subscribeOn(Schedulers.single());
        return PoolBuilder.from(connect)
                .sizeBetween(0, settings.poolSize())
                .evictionPredicate((connection, use) -> isClosed(connection))
                .evictInBackground(PAUSE)
                .destroyHandler(connection -> Mono.from(connection.close()))
                .buildPool();
    }

    /** The driver leaves a socket open when connecting is cancelled, so a late connection is closed when it is there. */
    private static Mono<Connection> connection(ConnectionFactory factory) {
        var made = Mono.<Connection>from(factory.create()).toFuture();
        return Mono.fromFuture(made, true)
                .timeout(LOGIN_WITHIN)
                .doOnError(
                        TimeoutException.class,
                        late -> made.thenAccept(
                                connection -> Mono.from(connection.close()).subscribe()));
    }

    /** Looks at the socket's state alone: no test on borrow. */
    private static boolean isClosed(Connection connection) {
        return !Mono.from(connection.validate(ValidationDepth.LOCAL)).toFuture().getNow(false);
    }

    /**
     * C43: opens all connections, as soon as the database is there, by borrowing what is idle or missing at once. Not by the
     * pool's own warm-up: where that fails once, it never gives back the permits of the connections it did not try, and the
     * pool stays small for ever.
     */
    static Mono<Void> fill(InstrumentedPool<Connection> pool) {
        var now = pool.metrics();
        var size = now.getMaxAllocatedSize();
        return Flux.defer(() -> Flux.range(0, size - now.acquiredSize()))
                .flatMap(one -> pool.acquire(CONNECT_WITHIN).onErrorComplete(), size)
                .collectList()
                .flatMapIterable(Function.identity())
                .flatMap(PooledRef::release)
                .then()
                .repeatWhen(done -> done.delayElements(PAUSE).takeWhile(again -> now.allocatedSize() < size))
                .then();
    }
}
