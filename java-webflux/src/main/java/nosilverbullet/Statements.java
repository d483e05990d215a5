package nosilverbullet;

import java.time.format.DateTimeFormatter;
import org.springframework.http.HttpStatus;
import reactor.core.publisher.Mono;

/** What the endpoints ask of the database: {@link Database} answers, or {@link JdbcDatabase} in its place. */
interface Statements {
    DateTimeFormatter NOW = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSS");

    /** C3, C4: {@code threads} is what it adds to the event loops. */
    record Facts(
            String driver, String version, String statements, String threads, int poolSize, int inUse, int waiting) {}

    Mono<Integer> ping();

    Mono<String> now();

    Mono<Integer> sleep(int ms);

    Mono<Books.Book> book(long id);

    /** The new id. */
    Mono<Long> add(String name);

    Facts facts();

    /** C38 */
    static Problem away() {
        return new Problem(HttpStatus.SERVICE_UNAVAILABLE, "the database did not answer");
    }
}
