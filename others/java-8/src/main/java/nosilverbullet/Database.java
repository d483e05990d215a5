package nosilverbullet;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;
import org.springframework.stereotype.Component;

/** The statements, each one execution of a prepared statement in autocommit and nothing else (C61). */
@Component
class Database {
    private static final DateTimeFormatter NOW = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSS");
    private static final Object[] NONE = {}; // with it JdbcTemplate prepares statements without parameters, too

    private final HikariDataSource pool;
    private final JdbcTemplate template;

    Database(HikariDataSource pool) {
        this.pool = pool;
        this.template = new JdbcTemplate(pool);
        // Spring's usual one asks the database for its name when the first statement fails: by then it may be away.
        this.template.setExceptionTranslator(new SQLExceptionSubclassTranslator());
    }

    /** C60, C61. Hikari opens the connections one by one in the background, with or without a database (C43). */
    static HikariDataSource pool(Settings settings) {
        HikariConfig config = new HikariConfig();
        config.setMaximumPoolSize(settings.poolSize);
        config.setMinimumIdle(settings.poolSize);
        config.setConnectionTimeout(settings.acquireTimeoutMs);
        config.setInitializationFailTimeout(-1);
        config.setIdleTimeout(0);
        config.setMaxLifetime(0);
        config.setKeepaliveTime(0);
        config.addDataSourceProperty("useServerPrepStmts", "true");
        config.addDataSourceProperty("cachePrepStmts", "true");
        config.addDataSourceProperty("useLocalSessionState", "true");
        config.addDataSourceProperty("cacheServerConfiguration", "true"); // 150 connections ask once
        config.addDataSourceProperty("characterEncoding", "UTF-8");
        config.addDataSourceProperty("connectionCollation", "utf8mb4_general_ci"); // MySQL and MariaDB both have it
        config.addDataSourceProperty("sslMode", "DISABLED");
        config.addDataSourceProperty("allowPublicKeyRetrieval", "true"); // caching_sha2_password without TLS
        config.addDataSourceProperty("connectTimeout", "2000");
        config.setDataSource(new Connector(settings.database, config.getDataSourceProperties()));
        return new HikariDataSource(config);
    }

    /** C2 */
    void ping() {
        ask(() -> template.queryForObject("SELECT 1", Integer.class, NONE));
    }

    /** C7 */
    String now() {
        return ask(() -> template.queryForObject(
                "SELECT NOW(6)", (row, number) -> NOW.format(row.getObject(1, LocalDateTime.class)), NONE));
    }

    /** C8 */
    void sleep(int ms) {
        ask(() -> template.queryForObject("SELECT SLEEP(?)", Integer.class, ms / 1000.0));
    }

    /** C9 */
    Optional<Books.Book> book(long id) {
        List<Books.Book> found = ask(() -> template.query(
                "SELECT id, name FROM books WHERE id = ?",
                (row, number) -> new Books.Book(row.getLong(1), row.getString(2)),
                id));
        return found.stream().findFirst();
    }

    /** C10: the new id, which comes with the answer to the INSERT. */
    long add(String name) {
        GeneratedKeyHolder key = new GeneratedKeyHolder();
        ask(() -> template.update(
                connection -> {
                    PreparedStatement insert = connection.prepareStatement(
                            "INSERT INTO books (name) VALUES (?)", Statement.RETURN_GENERATED_KEYS);
                    insert.setString(1, name);
                    return insert;
                },
                key));
        return key.getKey().longValue();
    }

    /** C4: connections lent. */
    int inUse() {
        return pool.getHikariPoolMXBean().getActiveConnections();
    }

    /** C4: requests that wait for a connection. */
    int waiting() {
        return pool.getHikariPoolMXBean().getThreadsAwaitingConnection();
    }

    /** C38: tells a database that is away from a statement that is wrong. */
    private <T> T ask(Supplier<T> statement) {
        if (pool.getHikariPoolMXBean().getTotalConnections() == 0) {
            throw Problem.database(null); // Hikari would let it wait for its whole limit
        }
        try {
            return statement.get();
        } catch (CannotGetJdbcConnectionException none) {
            throw Problem.database(none);
        } catch (DataAccessException failure) {
            if (!isLost(failure)) {
                throw failure;
            }
            // Where one connection is lost the others mostly are, and nothing tests them before they are lent: all
            // are opened anew, so that only what was in flight fails.
            pool.getHikariPoolMXBean().softEvictConnections();
            throw Problem.database(failure);
        }
    }

    /** SQLSTATE class 08: the connection broke; 70100: the server killed it, as it does when it stops. */
    private static boolean isLost(DataAccessException failure) {
        if (!(failure.getCause() instanceof SQLException)) {
            return false;
        }
        String state = ((SQLException) failure.getCause()).getSQLState();
        return state != null && (state.startsWith("08") || state.equals("70100"));
    }
}
