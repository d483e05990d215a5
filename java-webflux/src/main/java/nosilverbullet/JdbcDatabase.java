package nosilverbullet;

import com.mysql.cj.jdbc.Driver;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDateTime;
import java.util.concurrent.Callable;
import org.springframework.beans.factory.DisposableBean;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * JDBC in the place of R2DBC: every call blocks the thread that makes it. What is compared is which thread that is.
 *
 * <p>C60, C61: one execution of a prepared statement in autocommit and nothing else.
 */
class JdbcDatabase implements Statements, DisposableBean {

    /** Sets the parameters of a statement. */
    private interface Binding {
        void set(PreparedStatement statement) throws SQLException;
    }

    private interface Reading<T> {
        T read(ResultSet row) throws SQLException;
    }

    private final Settings.DatabaseClient client;
    private final HikariDataSource pool;

    JdbcDatabase(Settings settings) {
        client = settings.databaseClient();
        pool = pool(settings);
    }

    /** Hikari opens the connections one by one in the background, with or without a database (C43). */
    private static HikariDataSource pool(Settings settings) {
        // Read once by the classes they belong to, so they are set before any of these is loaded.
        System.setProperty("com.zaxxer.hikari.aliveBypassWindowMs", "" + Long.MAX_VALUE); // C60: no test on borrow
        System.setProperty("com.zaxxer.hikari.timeoutMs.floor", "1"); // DB_ACQUIRE_TIMEOUT_MS may be below 250
        var config = new HikariConfig();
        config.setMaximumPoolSize(settings.poolSize());
        config.setMinimumIdle(settings.poolSize());
        config.setConnectionTimeout(settings.acquireTimeout().toMillis());
        config.setInitializationFailTimeout(-1);
        config.setIdleTimeout(0);
        config.setMaxLifetime(0);
        config.setKeepaliveTime(0);
        config.addDataSourceProperty("dbname", settings.database().database());
        config.addDataSourceProperty("useServerPrepStmts", "true");
        config.addDataSourceProperty("cachePrepStmts", "true");
        config.addDataSourceProperty("useLocalSessionState", "true");
        config.addDataSourceProperty("cacheServerConfiguration", "true"); // 150 connections ask once
        config.addDataSourceProperty("characterEncoding", "UTF-8");
        config.addDataSourceProperty("sslMode", "DISABLED");
        config.addDataSourceProperty("allowPublicKeyRetrieval", "true"); // caching_sha2_password without TLS
        config.addDataSourceProperty("connectTimeout", "2000");
        config.setDataSource(new Connector(settings.database(), config.getDataSourceProperties()));
        return new HikariDataSource(config);
    }

    /** C2: always beside the loop, because it must be told within its own limit that the database is away. */
    @Override
    public Mono<Integer> one() {
        return Mono.fromCallable(() -> row("SELECT 1", none -> {}, row -> row.getInt(1)))
                .subscribeOn(Schedulers.boundedElastic());
    }

    @Override
    public Mono<LocalDateTime> now() {
        return ask(() -> row("SELECT NOW(6)", none -> {}, row -> row.getObject(1, LocalDateTime.class)));
    }

    @Override
    public Mono<Integer> sleep(double seconds) {
        return ask(() -> row("SELECT SLEEP(?)", statement -> statement.setDouble(1, seconds), row -> row.getInt(1)));
    }

    @Override
    public Mono<Books.Book> book(long id) {
        return ask(() -> row(
                "SELECT id, name FROM books WHERE id = ?",
                statement -> statement.setLong(1, id),
                row -> new Books.Book(row.getLong(1), row.getString(2))));
    }

    @Override
    public Mono<Long> insert(String name) {
        return ask(() -> key("INSERT INTO books (name) VALUES (?)", statement -> statement.setString(1, name)));
    }

    @Override
    public int poolSize() {
        return pool.getMaximumPoolSize();
    }

    @Override
    public int inUse() {
        return pool.getHikariPoolMXBean().getActiveConnections();
    }

    @Override
    public int waiting() {
        return pool.getHikariPoolMXBean().getThreadsAwaitingConnection();
    }

    @Override
    public Facts facts() {
        return new Facts("MySQL Connector/J", Driver.class.getPackage().getImplementationVersion(), "prepared");
    }

    /** On the thread that subscribes, which is the event loop's, but where the client moves it. */
    private <T> Mono<T> ask(Callable<T> statement) {
        var asked = Mono.fromCallable(statement);
        return switch (client) {
            case JDBC_OFFLOADED -> asked.subscribeOn(Schedulers.boundedElastic());
            // As `Mono.just(save(x)).subscribeOn(…)` does: the answer is there before anything hops.
            case JDBC_HOP -> asked.flatMap(answer -> Mono.just(answer).subscribeOn(Schedulers.boundedElastic()));
            default -> asked;
        };
    }

    /** The first row; null where there is none. */
    private <T> T row(String sql, Binding binding, Reading<T> reading) {
        try (var connection = connection();
                var statement = connection.prepareStatement(sql)) {
            binding.set(statement);
            try (var rows = statement.executeQuery()) {
                return rows.next() ? reading.read(rows) : null;
            }
        } catch (SQLException failure) {
            throw problem(failure);
        }
    }

    /** The key that comes with the answer to an INSERT. */
    private long key(String sql, Binding binding) {
        try (var connection = connection();
                var statement = connection.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS)) {
            binding.set(statement);
            statement.executeUpdate();
            try (var keys = statement.getGeneratedKeys()) {
                keys.next();
                return keys.getLong(1);
            }
        } catch (SQLException failure) {
            throw problem(failure);
        }
    }

    private Connection connection() {
        if (pool.getHikariPoolMXBean().getTotalConnections() == 0) {
            throw Problem.databaseSilent(); // Hikari would let it wait for its whole limit
        }
        try {
            return pool.getConnection();
        } catch (SQLException none) {
            throw Problem.databaseSilent();
        }
    }

    /** C38: tells a connection that broke (08) or was killed (70100) from a statement that is wrong. */
    private RuntimeException problem(SQLException failure) {
        var state = failure.getSQLState();
        if (state == null || !(state.startsWith("08") || state.equals("70100"))) {
            return new IllegalStateException(failure);
        }
        // Nothing tests a connection before it is lent, and where one is lost the others mostly are: all are opened
        // anew.
        pool.getHikariPoolMXBean().softEvictConnections();
        return Problem.databaseSilent();
    }

    @Override
    public void destroy() {
        pool.close();
    }
}
