package nosilverbullet;

import com.mysql.cj.jdbc.MysqlDataSource;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.stereotype.Component;

/** The pool and the statements, each one execution of a prepared statement in autocommit and nothing else (C61). */
@Component
record Database(HikariDataSource pool, JdbcClient client, JdbcClient books) { // the same twice, but in a variant
    private static final DateTimeFormatter NOW = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSS");

    /** C60. Hikari opens the connections one by one in the background, with or without a database (C43). */
    @Bean
    static HikariDataSource dataSource(Settings settings, @Value("${db.options}") String options) {
        var connector = new Connector();
        connector.setUrl("jdbc:" + settings.database().replace("+", "%2B") + "?" + options); // else + is a blank to it
        var config = new HikariConfig();
        config.setDataSource(connector);
        config.setMaximumPoolSize(settings.poolSize()); // which is also the least
        config.setConnectionTimeout(settings.acquireTimeoutMs());
        config.setInitializationFailTimeout(-1);
        config.setMaxLifetime(0);
        config.setKeepaliveTime(0);
        return new HikariDataSource(config);
    }

    void ping() { // C2
        ask(() -> client.sql("SELECT 1").query(Integer.class).single());
    }

    String now() { // C7
        return NOW.format(
                ask(() -> client.sql("SELECT NOW(6)").query(LocalDateTime.class).single()));
    }

    void sleep(int ms) { // C8
        var statement = client.sql("SELECT SLEEP(?)").param(ms / 1000.0);
        ask(() -> statement.query(Integer.class).single());
    }

    Optional<Books.Book> book(long id) { // C9
        return ask(() -> books.sql("SELECT id, name FROM books WHERE id = ?")
                .param(id)
                .query((row, number) -> new Books.Book(row.getLong(1), row.getString(2)))
                .optional());
    }

    /** C10: the new id, which comes with the answer to the INSERT. */
    long add(String name) {
        var key = new GeneratedKeyHolder();
        ask(() -> books.sql("INSERT INTO books (name) VALUES (?)").param(name).update(key));
        return key.getKey().longValue();
    }

    static RuntimeException away() { // C38
        return Problems.of(HttpStatus.SERVICE_UNAVAILABLE, "the database did not answer");
    }

    /** Tells a database that is away from a statement that is wrong. */
    private <T> T ask(Supplier<T> statement) {
        if (pool.getHikariPoolMXBean().getTotalConnections() == 0) {
            throw away(); // Hikari would let it wait for its whole limit
        }
        try {
            return statement.get();
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
