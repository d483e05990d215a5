package nosilverbullet;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import java.util.function.Supplier;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.stereotype.Component;

/** The pool and the statements, each one execution of a prepared statement in autocommit and nothing else (C61). */
@Component
record Database(HikariDataSource pool, JdbcClient client, JdbcClient books) {
    private static final DateTimeFormatter NOW = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSS");

    @Autowired
    Database(Settings settings, HikariDataSource pool, JdbcClient client) {
        this(pool, client, settings.booksInH2() ? H2.books(settings) : client);
    }

    /** C60. Hikari opens the connections one by one in the background, with or without a database (C43). */
    @Bean
    static HikariDataSource dataSource(Settings settings) {
        var config = new HikariConfig();
        config.setDataSource(new Connector(settings.database(), settings.preparedStatements()));
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
        ask(() -> client.sql("SELECT SLEEP(?)")
                .param(ms / 1000.0)
                .query(Integer.class)
                .single());
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

    static Problem away() { // C38
        return new Problem(HttpStatus.SERVICE_UNAVAILABLE, "the database did not answer");
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
            // Where one connection is lost the others mostly are, and nothing tests them before they are lent: all are
            // opened anew, so that only what was in flight fails.
            pool.getHikariPoolMXBean().softEvictConnections();
            throw away();
        }
    }
}
