package nosilverbullet

import org.springframework.http.HttpInputMessage
import org.springframework.http.HttpOutputMessage
import org.springframework.http.MediaType
import org.springframework.http.converter.AbstractHttpMessageConverter
import tools.jackson.core.StreamReadConstraints
import tools.jackson.core.json.JsonFactory
import tools.jackson.core.json.JsonWriteFeature
import tools.jackson.databind.DeserializationFeature
import tools.jackson.databind.MapperFeature
import tools.jackson.databind.PropertyNamingStrategies
import tools.jackson.databind.json.JsonMapper

/** What is answered as JSON, its properties in the order in which they are declared. */
interface Answer

/** Keys in snake_case, as they are declared; escapes in lower case; nothing after the value; no inner limits (C23). */
val MAPPER: JsonMapper =
    JsonMapper
        .builder(
            JsonFactory
                .builder()
                .disable(JsonWriteFeature.WRITE_HEX_UPPER_CASE)
                .streamReadConstraints(
                    StreamReadConstraints
                        .builder()
                        .maxNumberLength(LARGEST_BODY)
                        .maxNameLength(LARGEST_BODY)
                        .build(),
                ).build(),
        ).propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
        .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
        .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
        .build()

/** Writes an answer whole: Spring's own converter streams, and Tomcat then chunks, but C62 wants a Content-Length. */
class Json : AbstractHttpMessageConverter<Answer>(MediaType.APPLICATION_JSON, MediaType.APPLICATION_PROBLEM_JSON) {
    override fun supports(type: Class<*>) = Answer::class.java.isAssignableFrom(type)

    override fun readInternal(type: Class<out Answer>, input: HttpInputMessage): Answer =
        throw UnsupportedOperationException("Books reads the only body there is")

    override fun writeInternal(answer: Answer, output: HttpOutputMessage) {
        val bytes = MAPPER.writeValueAsBytes(answer)
        output.headers.contentLength = bytes.size.toLong()
        output.body.write(bytes)
    }
}
