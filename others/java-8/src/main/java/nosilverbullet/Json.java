package nosilverbullet;

import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.springframework.http.HttpInputMessage;
import org.springframework.http.HttpOutputMessage;
import org.springframework.http.MediaType;
import org.springframework.http.converter.AbstractHttpMessageConverter;

/** Writes an answer whole: Spring's own converter streams, and Tomcat then chunks, but C62 wants a Content-Length. */
final class Json extends AbstractHttpMessageConverter<Object> {
    /** The fields of a value as they are declared, in snake_case; escapes in lower case; nothing after the value. */
    static final JsonMapper MAPPER = JsonMapper.builder()
            .visibility(PropertyAccessor.FIELD, Visibility.NON_PRIVATE)
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .disable(JsonWriteFeature.WRITE_HEX_UPPER_CASE)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    Json() {
        super(MediaType.APPLICATION_JSON, MediaType.APPLICATION_PROBLEM_JSON);
    }

    /** Of what a handler returns; /hello is no JSON by its media type. */
    @Override
    protected boolean supports(Class<?> type) {
        return true;
    }

    @Override
    protected Object readInternal(Class<?> type, HttpInputMessage input) {
        throw new UnsupportedOperationException("Books reads the only body there is");
    }

    @Override
    protected void writeInternal(Object value, HttpOutputMessage output) throws IOException {
        // By way of a text: where Jackson 2 writes bytes it escapes what lies above U+FFFF.
        byte[] bytes = MAPPER.writeValueAsString(value).getBytes(StandardCharsets.UTF_8);
        output.getHeaders().setContentLength(bytes.length);
        output.getBody().write(bytes);
    }
}
