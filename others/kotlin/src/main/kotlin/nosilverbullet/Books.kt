package nosilverbullet

import jakarta.servlet.http.HttpServletRequest
import org.springframework.http.ResponseEntity
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.PathVariable
import org.springframework.web.bind.annotation.PostMapping
import org.springframework.web.bind.annotation.RestController
import tools.jackson.core.JacksonException
import tools.jackson.databind.JsonNode
import java.io.IOException
import java.net.URI
import java.nio.charset.CharacterCodingException

data class Book(val id: Long, val name: String) : Answer

const val LARGEST_BODY = 65_536
private const val NOT_JSON = "the body must be JSON in UTF-8"

/** C9, C10 */
@RestController
class Books(private val database: Database) {
    @GetMapping("/books/{id}")
    fun find(@PathVariable("id") segment: String): Book {
        val id = id(segment)
        return database.book(id) ?: throw Problem.notFound("book $id does not exist")
    }

    @PostMapping("/books")
    fun add(request: HttpServletRequest): ResponseEntity<Book> {
        requireJson(request.contentType)
        val name = name(parse(read(request)))
        val book = Book(database.add(name), name)
        return ResponseEntity.created(URI.create("/books/${book.id}")).body(book)
    }

    /** C33: by hand, because Spring refuses parameters that it does not like. */
    private fun requireJson(contentType: String?) {
        if (!contentType.orEmpty().substringBefore(';').trim().equals("application/json", ignoreCase = true)) {
            throw Problem.unsupportedMediaType()
        }
    }

    /** C34 */
    private fun read(request: HttpServletRequest): ByteArray {
        if (request.contentLengthLong > LARGEST_BODY) {
            throw Problem.contentTooLarge()
        }
        val body = try {
            request.inputStream.readNBytes(LARGEST_BODY + 1)
        } catch (_: IOException) { // late, malformed, or the client left
            throw Problem.badRequest(NOT_JSON)
        } catch (_: IllegalStateException) { // more trailers than Tomcat takes
            throw Problem.badRequest(NOT_JSON)
        }
        if (body.size > LARGEST_BODY) {
            throw Problem.contentTooLarge()
        }
        return body
    }

    /** C35: decoded first, because Jackson would accept UTF-16, too. */
    private fun parse(body: ByteArray): JsonNode {
        val json = try {
            MAPPER.readTree(body.decodeToString(throwOnInvalidSequence = true))
        } catch (_: CharacterCodingException) {
            null
        } catch (_: JacksonException) {
            null
        }
        if (json == null || json.isMissingNode) {
            throw Problem.badRequest(NOT_JSON)
        }
        return json
    }

    /** C36 */
    private fun name(json: JsonNode): String {
        val name = json.path("name").stringValue("")
        val lonely = name.codePoints().anyMatch { it in Char.MIN_SURROGATE.code..Char.MAX_SURROGATE.code }
        if (name.codePointCount(0, name.length) !in 1..255 || lonely) {
            throw Problem.unprocessableContent()
        }
        return name
    }
}
