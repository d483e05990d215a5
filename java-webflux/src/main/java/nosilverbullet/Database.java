package nosilverbullet;

import io.asyncer.r2dbc.mysql.MySqlConnectionConfiguration;
import io.asyncer.r2dbc.mysql.MySqlConnectionFactory;
import io.asyncer.r2dbc.mysql.api.MySqlConnection;
import io.asyncer.r2dbc.mysql.api.MySqlStatement;
import io.asyncer.r2dbc.mysql.constant.SslMode;
import io.r2dbc.spi.R2dbcNonTransientResourceException;
import io.r2dbc.spi.R2dbcTransientResourceException;
import io.r2dbc.spi.Readable;
import io.r2dbc.spi.ValidationDepth;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.Properties;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.http.client.ReactorResourceFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;
import reactor.pool.InstrumentedPool;
import reactor.pool.PoolBuilder;
import reactor.pool.PooledRef;

/**
 * The pool and the statements.
 *
 * <p>C61: text statements, because r2dbc-mysql sends COM_STMT_RESET (and waits for it) before each execute of a cached
 * prepared statement. Reactor Pool without r2dbc-pool above it, because that lets the driver ping at each return.
 */
class Database implements Statements, DisposableBean {

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration LOGIN_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration REFILL_INTERVAL = Duration.ofSeconds(1);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);

    private static final String DRIVER_VERSION = driverVersion();

    private final Duration acquireTimeout;
    private final InstrumentedPool<MySqlConnection> pool;
    private final Disposable refill;

    Database(Settings settings, ReactorResourceFactory resources) {
        acquireTimeout = settings.acquireTimeout();
        pool = pool(settings, resources.getLoopResources());
        refill = Flux.interval(Duration.ZERO, REFILL_INTERVAL)
                .onBackpressureDrop()
                .concatMap(tick -> fill(settings.poolSize()), 1)
                .subscribe();
    }

    private static InstrumentedPool<MySqlConnection> pool(Settings settings, LoopResources loops) {
        var url = settings.database();
        var factory = MySqlConnectionFactory.from(MySqlConnectionConfiguration.builder()
                .host(url.host())
                .port(url.port())
                .user(url.user())
                .password(url.password())
                .database(url.database())
                .sslMode(SslMode.DISABLED)
                .tcpNoDelay(true)
                .connectTimeout(CONNECT_TIMEOUT)
                .loopResources(loops)
                .build());
        // Connecting from a thread that is no event loop spreads the connections evenly over the loops.
        var connect = Mono.defer(() -> connection(factory)).subscribeOn(Schedulers.single());
        return PoolBuilder.from(connect)
                .sizeBetween(0, settings.poolSize())
                .evictionPredicate((connection, use) -> isClosed(connection))
                .evictInBackground(REFILL_INTERVAL)
                .destroyHandler(MySqlConnection::close)
                .buildPool();
    }

    /** The driver leaves a socket open when connecting is cancelled, so a late connection is closed when it is there. */
    private static Mono<MySqlConnection> connection(MySqlConnectionFactory factory) {
        var made = factory.create().<MySqlConnection>map(Function.identity()).toFuture();
        return Mono.fromFuture(made, true)
                .timeout(LOGIN_TIMEOUT)
                .doOnError(
                        TimeoutException.class,
                        late -> made.thenAccept(connection -> connection.close().subscribe()));
    }

    /**
     * C43, C60: all connections from the start, or as soon as the database is there (again). Borrows what is idle or
     * missing at once, and so opens what is missing. Not by the pool's own warm-up: where that fails once, it never gives
     * back the permits of the connections it did not try, and the pool stays small for ever.
     */
    private Mono<Void> fill(int size) {
        var metrics = pool.metrics();
        if (metrics.allocatedSize() >= size) {
            return Mono.empty();
        }
        return Flux.range(0, size - metrics.acquiredSize())
                .flatMap(one -> pool.acquire(CONNECT_TIMEOUT).onErrorComplete(), size)
                .collectList()
                .flatMapIterable(Function.identity())
                .flatMap(PooledRef::release)
                .then();
    }

    /** Looks at the socket's state alone: no test on borrow (C60). */
    private static boolean isClosed(MySqlConnection connection) {
        return !connection.validate(ValidationDepth.LOCAL).toFuture().getNow(false);
    }

    @Override
    public Mono<Integer> one() {
        return query(connection -> connection.createStatement("SELECT 1"), row -> row.get(0, Integer.class));
    }

    @Override
    public Mono<LocalDateTime> now() {
        return query(connection -> connection.createStatement("SELECT NOW(6)"), row -> row.get(0, LocalDateTime.class));
    }

    @Override
    public Mono<Integer> sleep(double seconds) {
        return query(
                connection -> connection.createStatement("SELECT SLEEP(?)").bind(0, seconds),
                row -> row.get(0, Integer.class));
    }

    @Override
    public Mono<Books.Book> book(long id) {
        return query(
                connection -> connection
                        .createStatement("SELECT id, name FROM books WHERE id = ?")
                        .bind(0, id),
                row -> new Books.Book(row.get(0, Long.class), row.get(1, String.class)));
    }

    @Override
    public Mono<Long> insert(String name) {
        return query(
                connection -> connection
                        .createStatement("INSERT INTO books (name) VALUES (?)")
                        .bind(0, name)
                        .returnGeneratedValues("id"),
                row -> row.get(0, Long.class));
    }

    @Override
    public int poolSize() {
        return pool.metrics().getMaxAllocatedSize();
    }

    @Override
    public int inUse() {
        return pool.metrics().acquiredSize();
    }

    @Override
    public int waiting() {
        return pool.metrics().pendingAcquireSize();
    }

    @Override
    public Facts facts() {
        return new Facts("io.asyncer:r2dbc-mysql", DRIVER_VERSION, "text");
    }

    private <T> Mono<T> query(Function<MySqlConnection, MySqlStatement> statement, Function<Readable, T> row) {
        return pool.acquire(acquireTimeout)
                .onErrorMap(cause -> Problem.databaseSilent())
                // C40: a request that waits for a connection can be left; a statement once sent runs to its end.
                .flatMap(lent -> Mono.fromFuture(execute(lent, statement, row).toFuture(), true));
    }

    private static <T> Mono<T> execute(
            PooledRef<MySqlConnection> lent,
            Function<MySqlConnection, MySqlStatement> statement,
            Function<Readable, T> row) {
        return Mono.usingWhen(
                        Mono.just(lent),
                        ref -> Flux.from(statement.apply(ref.poolable()).execute())
                                .flatMap(result -> result.map(row))
                                .singleOrEmpty(),
                        PooledRef::release)
                .onErrorMap(Database::isAway, cause -> Problem.databaseSilent());
    }

    private static boolean isAway(Throwable cause) {
        return cause instanceof R2dbcNonTransientResourceException || cause instanceof R2dbcTransientResourceException;
    }

    private static String driverVersion() {
        var properties = new Properties();
        var path = "/META-INF/maven/io.asyncer/r2dbc-mysql/pom.properties";
        try (var file = MySqlConnectionFactory.class.getResourceAsStream(path)) {
            properties.load(file);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
        return properties.getProperty("version");
    }

    @Override
    public void destroy() {
        refill.dispose();
        pool.disposeLater().timeout(CLOSE_TIMEOUT).onErrorComplete().block();
    }
}
