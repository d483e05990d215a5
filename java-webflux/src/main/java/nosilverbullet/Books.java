package nosilverbullet;

import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@RestController
class Books {

    static final int MAX_BODY_BYTES = 65_536; // C23

    private static final int MAX_NAME_CODE_POINTS = 255;

    private final Statements database;
    private final JsonMapper json;

    Books(Statements database, JsonMapper json) {
        this.database = database;
        this.json = json;
    }

    record Book(long id, String name) {}

    /** C9. */
    @GetMapping("/books/{id}")
    Mono<Book> get(@PathVariable("id") String text) {
        var id = Parameters.id(text);
        return database.book(id).switchIfEmpty(Mono.error(() -> Problem.notFound("book " + id + " does not exist")));
    }

    /** C10. */
    @PostMapping("/books")
    Mono<ResponseEntity<Book>> add(ServerHttpRequest request) {
        return body(request)
                .map(this::name)
                .flatMap(name -> database.insert(name).map(id -> new Book(id, name)))
                .map(book -> ResponseEntity.created(URI.create("/books/" + book.id()))
                        .body(book));
    }

    /** C23: by hand, because Spring's own reading knows other limits and orders its refusals differently. */
    private static Mono<ByteBuffer> body(ServerHttpRequest request) {
        if (!isJson(request.getHeaders().getFirst(HttpHeaders.CONTENT_TYPE))) {
            throw Problem.notJson();
        }
        if (request.getHeaders().getContentLength() > MAX_BODY_BYTES) {
            throw Problem.tooLarge(); // before a byte of it is asked for
        }
        return DataBufferUtils.join(request.getBody(), MAX_BODY_BYTES)
                .onErrorMap(DataBufferLimitException.class, cause -> Problem.tooLarge())
                .map(Books::copied)
                .defaultIfEmpty(ByteBuffer.allocate(0));
    }

    private static boolean isJson(String contentType) {
        return contentType != null && contentType.split(";", 2)[0].strip().equalsIgnoreCase("application/json");
    }

    private static ByteBuffer copied(DataBuffer buffer) {
        var bytes = new byte[buffer.readableByteCount()];
        buffer.read(bytes);
        DataBufferUtils.release(buffer);
        return ByteBuffer.wrap(bytes);
    }

    private String name(ByteBuffer body) {
        var name = parsed(body).path("name");
        if (!name.isString() || !isName(name.stringValue())) {
            throw Problem.wrongName();
        }
        return name.stringValue();
    }

    private JsonNode parsed(ByteBuffer body) {
        try {
            // Decoded strictly first: given bytes, Jackson would guess UTF-16 and UTF-32 too.
            var node = json.readTree(
                    StandardCharsets.UTF_8.newDecoder().decode(body).toString());
            if (!node.isMissingNode()) {
                return node;
            }
        } catch (CharacterCodingException | JacksonException malformed) {
            // the same answer as for an empty body
        }
        throw Problem.badRequest("the body must be JSON in UTF-8");
    }

    private static boolean isName(String name) {
        var codePoints = name.codePointCount(0, name.length());
        return codePoints >= 1
                && codePoints <= MAX_NAME_CODE_POINTS
                && name.codePoints().noneMatch(point -> Character.getType(point) == Character.SURROGATE);
    }
}
