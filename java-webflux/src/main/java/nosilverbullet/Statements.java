package nosilverbullet;

import java.time.LocalDateTime;
import reactor.core.publisher.Mono;

/** What the endpoints ask of the database, whichever client answers: {@link Database}, or {@link JdbcDatabase} in its place. */
interface Statements {

    Mono<Integer> one();

    Mono<LocalDateTime> now();

    Mono<Integer> sleep(double seconds);

    Mono<Books.Book> book(long id);

    /** The id of the new book. */
    Mono<Long> insert(String name);

    int poolSize();

    int inUse();

    int waiting();

    Facts facts();

    /** C3. */
    record Facts(String driver, String driverVersion, String statements) {}
}
