package nosilverbullet;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** C9, C10 */
@JsonController
record Books(Database database, JsonMapper json, Scheduler loops) {
    record Book(long id, String name) {}

    private static final int MAX_BODY_BYTES = 65_536;
    // Reactor Netty's requestTimeout keeps each request in the heap for so long: at 15,000/s 300,000 of them.
    private static final int BODY_WITHIN_S = 20; // C27

    @GetMapping("/books/{id}")
    Mono<Book> getBook(@PathVariable("id") String segment) {
        long id = Parameters.id(segment);
        return database.book(id)
                .switchIfEmpty(Mono.error(() -> Problems.of(HttpStatus.NOT_FOUND, "book " + id + " does not exist")));
    }

    @PostMapping("/books")
    Mono<ResponseEntity<Book>> newBook(ServerHttpRequest request) {
        return body(request)
                .map(this::name)
                .flatMap(name -> database.add(name).map(id -> new Book(id, name)))
                .map(book -> ResponseEntity.created(URI.create("/books/" + book.id()))
                        .body(book));
    }

    /** C33, C34. By hand, because Spring refuses media types with parameters that it does not like. */
    private Mono<InputStream> body(ServerHttpRequest request) {
        var type = request.getHeaders().getFirst(HttpHeaders.CONTENT_TYPE);
        if (type == null || !type.split(";", 2)[0].strip().equalsIgnoreCase("application/json")) {
            throw Problems.of(HttpStatus.UNSUPPORTED_MEDIA_TYPE, "the body must be application/json");
        }
        if (request.getHeaders().getContentLength() > MAX_BODY_BYTES) {
            throw tooLarge(); // before it is asked for
        }
        return DataBufferUtils.join(request.getBody(), MAX_BODY_BYTES)
                .timeout(Duration.ofSeconds(BODY_WITHIN_S), Mono.error(Books::tooSlow), loops)
                .onErrorMap(DataBufferLimitException.class, cause -> tooLarge())
                .map(buffer -> buffer.asInputStream(true)) // which releases it when it is closed
                .defaultIfEmpty(InputStream.nullInputStream());
    }

    private static RuntimeException tooSlow() {
        var problem = Problems.of(HttpStatus.REQUEST_TIMEOUT, "the body must come within " + BODY_WITHIN_S + " s");
        problem.getHeaders().setConnection("close");
        return problem;
    }

    private static RuntimeException tooLarge() {
        return Problems.of(HttpStatus.CONTENT_TOO_LARGE, "the body must not exceed " + MAX_BODY_BYTES + " bytes");
    }

    /** C35, C36. Decoded first, because Jackson would accept UTF-16, too. */
    private String name(InputStream body) {
        try (body) {
            var bytes = body.readNBytes(body.available());
            var text = UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
            var name = json.readValue(text, JsonNode.class).path("name").stringValue("");
            int length = name.codePointCount(0, name.length());
            if (length >= 1 && length <= 255 && UTF_8.newEncoder().canEncode(name)) {
                return name;
            }
        } catch (IOException | JacksonException malformed) {
            throw Problems.of(HttpStatus.BAD_REQUEST, "the body must be JSON in UTF-8");
        }
        throw Problems.of(HttpStatus.UNPROCESSABLE_CONTENT, "name must be a string of 1 to 255 characters");
    }
}
