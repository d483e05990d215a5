package nosilverbullet;

import com.mysql.cj.jdbc.Driver;
import com.mysql.cj.jdbc.MysqlDataSource;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import nosilverbullet.Books.Book;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnExpression;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.stereotype.Component;
import org.springframework.util.Assert;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** JDBC in the place of R2DBC: every call blocks the thread that makes it. What is compared is which thread that is. */
@Component
@ConditionalOnExpression("'${db.client}' != 'r2dbc'")
final class JdbcDatabase extends Database {
    private final String kind;
    private final HikariDataSource pool;
    private final JdbcClient client;
    private final JdbcClient books;

    /** C60. Hikari opens the connections one by one in the background, with or without a database (C43). */
    JdbcDatabase(Settings settings, @Value("${db.client}") String kind, @Value("${db.options}") String options) {
        this.kind = kind.replace("h2", "jdbc"); // they differ in where the books are
        Assert.isTrue(this.kind.matches("jdbc(-offloaded|-hop)?"), "DB_CLIENT must be one of those in README.md");
        // Read once by the classes they belong to, so they are set before any of these is loaded.
        System.setProperty("com.zaxxer.hikari.aliveBypassWindowMs", "" + Long.MAX_VALUE); // C60: no test on borrow
        System.setProperty("com.zaxxer.hikari.timeoutMs.floor", "1"); // DB_ACQUIRE_TIMEOUT_MS may be below 250
        var connector = new Connector();
        connector.setUrl("jdbc:" + settings.database().replace("+", "%2B") + "?" + options); // else + is a blank to it
        var config = new HikariConfig();
        config.setDataSource(connector);
        config.setMaximumPoolSize(settings.poolSize()); // which is also the least
        config.setConnectionTimeout(settings.acquireTimeoutMs());
        config.setInitializationFailTimeout(-1);
        config.setMaxLifetime(0);
        config.setKeepaliveTime(0);
        pool = new HikariDataSource(config);
        client = JdbcClient.create(pool);
        books = kind.startsWith("h2") ? H2.books(settings.poolSize()) : client;
    }

    /** C2: always beside the loop, because it must be told within its own limit that the database is away. */
    @Override
    Mono<Integer> ping() {
        return super.ping().subscribeOn(Schedulers.boundedElastic());
    }

    @Override
    <T> Mono<T> query(Class<T> type, String sql, Object... values) {
        var where = type == Book.class ? books : client;
        return on(() -> where.sql(sql).params(values).query(type).optional().orElse(null));
    }

    @Override
    Mono<Long> insert(String sql, Object value) {
        return on(() -> {
            var key = new GeneratedKeyHolder();
            books.sql(sql).param(value).update(key);
            return key.getKey().longValue();
        });
    }

    /** On the thread that subscribes, which is the event loop's, but where the client moves it. */
    private <T> Mono<T> on(Callable<T> statement) {
        var asked = Mono.fromCallable(() -> ask(statement));
        return switch (kind) {
            case "jdbc-offloaded" -> asked.subscribeOn(Schedulers.boundedElastic());
            // As `Mono.just(save(x)).subscribeOn(…)` does: the answer is there before anything hops.
            case "jdbc-hop" -> asked.flatMap(answer -> Mono.just(answer).subscribeOn(Schedulers.boundedElastic()));
            default -> asked;
        };
    }

    /** Tells a database that is away from a statement that is wrong. */
    private <T> T ask(Callable<T> statement) throws Exception {
        if (pool.getHikariPoolMXBean().getTotalConnections() == 0) {
            throw away(); // Hikari would let it wait for its whole limit
        }
        try {
            return statement.call();
        } catch (CannotGetJdbcConnectionException none) {
            throw away();
        } catch (DataAccessException failure) {
            // SQLSTATE class 08: the connection broke; 70100: the server killed it, as it does when it stops.
            if (!(failure.getCause() instanceof SQLException cause)
                    || !String.valueOf(cause.getSQLState()).matches("08.*|70100")) {
                throw failure;
            }
            // Where one connection is lost the others mostly are, and nothing tests them (C60): all are opened anew.
            pool.getHikariPoolMXBean().softEvictConnections();
            throw away();
        }
    }

    @Override
    Facts facts() {
        var version = Driver.class.getPackage().getImplementationVersion();
        var now = pool.getHikariPoolMXBean();
        int inUse = now.getActiveConnections();
        int waiting = now.getThreadsAwaitingConnection();
        return new Facts(
                "MySQL Connector/J" + (books == client ? "" : ", H2 for books"),
                version,
                "prepared",
                pool.getMaximumPoolSize(),
                inUse,
                waiting);
    }

    @Override
    public void destroy() {
        pool.close();
    }

    /** Opens a connection, and tries again soon where the database is away (C43): Hikari's pauses grow to 5 s. */
    private static final class Connector extends MysqlDataSource {
        @Override
        protected Connection getConnection(Properties login) throws SQLException {
            while (true) {
                try {
                    return super.getConnection(login);
                } catch (SQLException away) {
                    LockSupport.parkNanos(Duration.ofMillis(500).toNanos());
                    if (Thread.currentThread().isInterrupted()) { // the pool is closing
                        throw away;
                    }
                }
            }
        }
    }
}
