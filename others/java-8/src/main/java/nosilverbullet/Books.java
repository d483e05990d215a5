package nosilverbullet;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import javax.servlet.http.HttpServletRequest;
import org.springframework.http.ResponseEntity;
import org.springframework.util.StreamUtils;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** C9, C10 */
@RestController
class Books {
    static final class Book {
        final long id;
        final String name;

        Book(long id, String name) {
            this.id = id;
            this.name = name;
        }
    }

    static final int LARGEST_BODY = 65_536;
    private static final String NOT_JSON = "the body must be JSON in UTF-8";

    private final Database database;

    Books(Database database) {
        this.database = database;
    }

    @GetMapping("/books/{id}")
    Book find(@PathVariable("id") String segment) {
        long id = Parameters.id(segment);
        return database.book(id).orElseThrow(() -> Problem.notFound("book " + id + " does not exist"));
    }

    @PostMapping("/books")
    ResponseEntity<Book> add(HttpServletRequest request) {
        requireJson(request.getContentType());
        String name = name(parse(read(request)));
        Book book = new Book(database.add(name), name);
        return ResponseEntity.created(URI.create("/books/" + book.id)).body(book);
    }

    /** C33: by hand, because Spring refuses parameters that it does not like. */
    private static void requireJson(String contentType) {
        if (contentType == null || !contentType.split(";", 2)[0].trim().equalsIgnoreCase("application/json")) {
            throw Problem.unsupportedMediaType();
        }
    }

    /** C34 */
    private static byte[] read(HttpServletRequest request) {
        if (request.getContentLengthLong() > LARGEST_BODY) {
            throw Problem.contentTooLarge();
        }
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        try {
            StreamUtils.copyRange(
                    request.getInputStream(), body, 0, LARGEST_BODY); // up to and with that byte: one too many
        } catch (IOException | IllegalStateException broken) { // late, malformed, or the client left
            throw Problem.badRequest(NOT_JSON);
        }
        if (body.size() > LARGEST_BODY) {
            throw Problem.contentTooLarge();
        }
        return body.toByteArray();
    }

    /** C35: decoded first, because Jackson would accept UTF-16, too. */
    private static JsonNode parse(byte[] body) {
        try {
            CharBuffer text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body));
            JsonNode json = Json.MAPPER.readTree(text.toString());
            if (!json.isMissingNode()) {
                return json;
            }
        } catch (CharacterCodingException | JsonProcessingException malformed) {
            // is said below
        }
        throw Problem.badRequest(NOT_JSON);
    }

    /** C36 */
    private static String name(JsonNode json) {
        String name = json.path("name").isTextual() ? json.path("name").textValue() : "";
        boolean lonely = name.codePoints()
                .anyMatch(point -> point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE);
        int length = name.codePointCount(0, name.length());
        if (length < 1 || length > 255 || lonely) {
            throw Problem.unprocessableContent();
        }
        return name;
    }
}
