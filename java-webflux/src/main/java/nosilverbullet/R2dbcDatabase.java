package nosilverbullet;

import io.asyncer.r2dbc.mysql.MySqlConnectionFactoryProvider;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryOptions;
import io.r2dbc.spi.R2dbcNonTransientResourceException;
import io.r2dbc.spi.R2dbcTransientResourceException;
import io.r2dbc.spi.Readable;
import io.r2dbc.spi.Statement;
import io.r2dbc.spi.ValidationDepth;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import nosilverbullet.Books.Book;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.stereotype.Component;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.pool.InstrumentedPool;
import reactor.pool.PoolBuilder;
import reactor.pool.PooledRef;

/**
 * C60, C61. Reactor Pool without r2dbc-pool above it, because that lets the driver ping at each return. Statements as
 * text, because the driver sends COM_STMT_RESET (and waits for it) before each execute of a cached prepared one.
 */
@Component
@ConditionalOnProperty(name = "db.client", havingValue = "r2dbc")
final class R2dbcDatabase extends Database {
    private static final Duration CONNECT_WITHIN = Duration.ofSeconds(5);
    private static final Duration LOGIN_WITHIN = Duration.ofSeconds(30);
    private static final Duration CLOSE_WITHIN = Duration.ofSeconds(1);
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final Duration acquireTimeout;
    private final InstrumentedPool<Connection> pool;
    private final Disposable filling;

    R2dbcDatabase(Settings settings, ReactorResourceFactory resources) {
        // The driver decodes a plus as a blank.
        var url = ConnectionFactoryOptions.parse("r2dbc:" + settings.database().replace("+", "%2B"));
        var factory = ConnectionFactories.get(url.mutate()
                .option(ConnectionFactoryOptions.SSL, false)
                .option(ConnectionFactoryOptions.CONNECT_TIMEOUT, CONNECT_WITHIN)
                .option(MySqlConnectionFactoryProvider.TCP_NO_DELAY, true)
                .option(MySqlConnectionFactoryProvider.LOOP_RESOURCES, resources.getLoopResources())
                .build());
        // Connecting from a thread that is no event loop spreads the connections evenly over the loops.
        var connect = Mono.defer(() -> connection(factory)).subscribeOn(Schedulers.single());
        pool = PoolBuilder.from(connect)
                .sizeBetween(0, settings.poolSize())
                .evictionPredicate((connection, use) -> isClosed(connection))
                .evictInBackground(PAUSE)
                .destroyHandler(connection -> Mono.from(connection.close()))
                .buildPool();
        acquireTimeout = Duration.ofMillis(settings.acquireTimeoutMs());
        filling = fill().subscribe();
    }

    /** The driver leaves a socket open when connecting is cancelled: a late connection is closed when it is there. */
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
     * C60: opens all connections, as soon as the database is there (C43), by borrowing what is missing at once. The
     * pool's own warm-up does not give back the permits of connections that it did not try after one has failed.
     */
    private Flux<Void> fill() {
        var now = pool.metrics();
        var size = now.getMaxAllocatedSize();
        return Flux.defer(() -> Flux.range(0, size - now.acquiredSize()))
                .flatMap(one -> pool.acquire(CONNECT_WITHIN).onErrorComplete(), size)
                .collectList()
                .flatMapIterable(Function.identity())
                .flatMap(PooledRef::release)
                .then()
                .repeatWhen(done -> done.delayElements(PAUSE).takeWhile(again -> now.allocatedSize() < size));
    }

    @Override
    <T> Mono<T> query(Class<T> type, String sql, Object... values) {
        return ask(
                connection -> {
                    var statement = connection.createStatement(sql);
                    for (int index = 0; index < values.length; index++) {
                        statement.bind(index, values[index]);
                    }
                    return statement;
                },
                row -> type == Book.class
                        ? type.cast(new Book(row.get(0, Long.class), row.get(1, String.class)))
                        : row.get(0, type));
    }

    @Override
    Mono<Long> insert(String sql, Object value) {
        return ask(
                connection -> connection.createStatement(sql).bind(0, value).returnGeneratedValues("id"),
                row -> row.get(0, Long.class));
    }

    private <T> Mono<T> ask(Function<Connection, Statement> statement, Function<Readable, T> row) {
        return pool.acquire(acquireTimeout).onErrorMap(cause -> away()).flatMap(lent -> {
            var answer = Mono.usingWhen(
                    Mono.just(lent.poolable()),
                    connection -> Flux.from(statement.apply(connection).execute())
                            .flatMap(result -> result.map(row))
                            .singleOrEmpty(),
                    connection -> lent.release());
            // C40: a request that waits for a connection can be left; a statement once sent runs to its end.
            return Mono.fromFuture(answer.toFuture(), true).onErrorMap(R2dbcDatabase::isAway, broken -> away());
        });
    }

    private static boolean isAway(Throwable cause) {
        return cause instanceof R2dbcNonTransientResourceException || cause instanceof R2dbcTransientResourceException;
    }

    @Override
    Facts facts() {
        var version = MySqlConnectionFactoryProvider.class.getPackage().getImplementationVersion();
        var now = pool.metrics();
        int size = now.getMaxAllocatedSize();
        return new Facts("io.asyncer:r2dbc-mysql", version, "text", size, now.acquiredSize(), now.pendingAcquireSize());
    }

    @Override
    public void destroy() {
        filling.dispose();
        pool.disposeLater().timeout(CLOSE_WITHIN).onErrorComplete().block();
    }
}
