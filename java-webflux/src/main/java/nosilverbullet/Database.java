package nosilverbullet;

import io.r2dbc.spi.Connection;
import io.r2dbc.spi.R2dbcNonTransientResourceException;
import io.r2dbc.spi.R2dbcTransientResourceException;
import io.r2dbc.spi.Readable;
import io.r2dbc.spi.Statement;
import java.io.IOException;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.function.Function;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.support.PropertiesLoaderUtils;
import org.springframework.http.client.ReactorResourceFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.pool.InstrumentedPool;
import reactor.pool.PooledRef;

/**
 * The statements. C61: as text, because r2dbc-mysql sends COM_STMT_RESET (and waits for it) before each execute of a cached
 * prepared statement.
 */
class Database implements Statements, DisposableBean {
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);
    private static final String BUILD = "META-INF/maven/io.asyncer/r2dbc-mysql/pom.properties";

    private final Duration acquireTimeout;
    private final InstrumentedPool<Connection> pool;
    private final Disposable filling;
    private final String version;

    Database(Settings settings, ReactorResourceFactory resources) throws IOException {
        acquireTimeout = Duration.ofMillis(settings.acquireTimeoutMs());
        pool = Pool.of(settings, resources.getLoopResources());
        filling = Pool.fill(pool).subscribe();
        version = PropertiesLoaderUtils.loadProperties(new ClassPathResource(BUILD))
                .getProperty("version");
    }

    @Override
    public Mono<Integer> ping() {
        return ask(connection -> connection.createStatement("SELECT 1"), row -> row.get(0, Integer.class));
    }

    @Override
    public Mono<String> now() {
        return ask(
                connection -> connection.createStatement("SELECT NOW(6)"),
                row -> NOW.format(row.get(0, LocalDateTime.class)));
    }

    @Override
    public Mono<Integer> sleep(int ms) {
        return ask(
                connection -> connection.createStatement("SELECT SLEEP(?)").bind(0, ms / 1000.0),
                row -> row.get(0, Integer.class));
    }

    @Override
    public Mono<Books.Book> book(long id) {
        return ask(
                connection -> connection
                        .createStatement("SELECT id, name FROM books WHERE id = ?")
                        .bind(0, id),
                row -> new Books.Book(row.get(0, Long.class), row.get(1, String.class)));
    }

    @Override
    public Mono<Long> add(String name) {
        return ask(
                connection -> connection
                        .createStatement("INSERT INTO books (name) VALUES (?)")
                        .bind(0, name)
                        .returnGeneratedValues("id"),
                row -> row.get(0, Long.class));
    }

    @Override
    public Facts facts() {
        var now = pool.metrics();
        return new Facts(
                "io.asyncer:r2dbc-mysql",
                version,
                "text",
                "",
                now.getMaxAllocatedSize(),
                now.acquiredSize(),
                now.pendingAcquireSize());
    }

    private <T> Mono<T> ask(Function<Connection, Statement> statement, Function<Readable, T> row) {
        return pool.acquire(acquireTimeout)
                .onErrorMap(cause -> Statements.away())
                // C40: a request that waits for a connection can be left; a statement once sent runs to its end.
                .flatMap(lent -> Mono.fromFuture(execute(lent, statement, row).toFuture(), true));
    }

    private static <T> Mono<T> execute(
            PooledRef<Connection> lent, Function<Connection, Statement> statement, Function<Readable, T> row) {
        return Mono.usingWhen(
                        Mono.just(lent),
                        ref -> Flux.from(statement.apply(ref.poolable()).execute())
                                .flatMap(result -> result.map(row))
                                .singleOrEmpty(),
                        PooledRef::release)
                .onErrorMap(Database::isAway, broken -> Statements.away());
    }

    private static boolean isAway(Throwable cause) {
        return cause instanceof R2dbcNonTransientResourceException || cause instanceof R2dbcTransientResourceException;
    }

    @Override
    public void destroy() {
        filling.dispose();
        pool.disposeLater().timeout(CLOSE_TIMEOUT).onErrorComplete().block();
    }
}
