package nosilverbullet;

import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import nosilverbullet.Books.Book;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.http.HttpStatus;
import reactor.core.publisher.Mono;

/** The statements of the endpoints: {@link R2dbcDatabase} sends them, or a variant in its place. */
abstract class Database implements DisposableBean {
    /** C3, C4 */
    record Facts(String driver, String version, String statements, int poolSize, int inUse, int waiting) {}

    private static final DateTimeFormatter NOW = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSS");

    Mono<Integer> ping() {
        return query(Integer.class, "SELECT 1");
    }

    Mono<String> now() {
        return query(LocalDateTime.class, "SELECT NOW(6)").map(NOW::format);
    }

    Mono<Integer> sleep(int ms) {
        return query(Integer.class, "SELECT SLEEP(?)", ms / 1000.0);
    }

    Mono<Book> book(long id) {
        return query(Book.class, "SELECT id, name FROM books WHERE id = ?", id);
    }

    /** The new id. */
    Mono<Long> add(String name) {
        return insert("INSERT INTO books (name) VALUES (?)", name);
    }

    /** A row of one column, or a book; empty where there is no row. */
    abstract <T> Mono<T> query(Class<T> type, String sql, Object... values);

    abstract Mono<Long> insert(String sql, Object value);

    abstract Facts facts();

    /** C38 */
    static RuntimeException away() {
        return Problems.of(HttpStatus.SERVICE_UNAVAILABLE, "the database did not answer");
    }
}
