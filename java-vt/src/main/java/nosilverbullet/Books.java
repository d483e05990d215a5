package nosilverbullet;

import static java.nio.charset.StandardCharsets.UTF_8;

import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** C9, C10 */
@JsonController
record Books(Database database, JsonMapper json) {
    record Book(long id, String name) {}

    private static final int MAX_BODY_BYTES = 65_536;

    @GetMapping("/books/{id}")
    Book getBook(@PathVariable("id") String segment) {
        long id = Parameters.id(segment);
        return database.book(id).orElseThrow(() -> Problems.of(HttpStatus.NOT_FOUND, "book " + id + " does not exist"));
    }

    @PostMapping("/books")
    ResponseEntity<Book> newBook(HttpServletRequest request) {
        var name = name(request);
        var book = new Book(database.add(name), name);
        return ResponseEntity.created(URI.create("/books/" + book.id())).body(book);
    }

    /** C35, C36. Decoded first, because Jackson would accept UTF-16, too. */
    private String name(HttpServletRequest request) {
        try {
            var text = UTF_8.newDecoder().decode(ByteBuffer.wrap(body(request))).toString();
            var name = json.readValue(text, JsonNode.class).path("name").stringValue("");
            int length = name.codePointCount(0, name.length());
            if (length >= 1 && length <= 255 && UTF_8.newEncoder().canEncode(name)) {
                return name;
            }
        } catch (IOException | IllegalStateException | JacksonException broken) { // malformed, late, or the client left
            throw Problems.of(HttpStatus.BAD_REQUEST, "the body must be JSON in UTF-8");
        }
        throw Problems.of(HttpStatus.UNPROCESSABLE_CONTENT, "name must be a string of 1 to 255 characters");
    }

    /** C33, C34. By hand, because Spring refuses media types with parameters that it does not like. */
    private static byte[] body(HttpServletRequest request) throws IOException {
        var type = request.getContentType();
        if (type == null || !type.split(";", 2)[0].strip().equalsIgnoreCase("application/json")) {
            throw Problems.of(HttpStatus.UNSUPPORTED_MEDIA_TYPE, "the body must be application/json");
        }
        if (request.getContentLengthLong() <= MAX_BODY_BYTES) { // else it is not even asked for
            var body = request.getInputStream().readNBytes(MAX_BODY_BYTES + 1);
            if (body.length <= MAX_BODY_BYTES) {
                return body;
            }
        }
        throw Problems.of(HttpStatus.CONTENT_TOO_LARGE, "the body must not exceed " + MAX_BODY_BYTES + " bytes");
    }
}
