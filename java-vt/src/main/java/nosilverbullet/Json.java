package nosilverbullet;

import java.io.IOException;
import org.springframework.http.HttpInputMessage;
import org.springframework.http.HttpOutputMessage;
import org.springframework.http.MediaType;
import org.springframework.http.converter.AbstractHttpMessageConverter;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/** Writes an answer whole: Spring's own converter streams, and Tomcat then chunks, but C62 wants a Content-Length. */
final class Json extends AbstractHttpMessageConverter<Object> {
    /** Keys as they are declared, in snake_case; escapes in lower case; nothing after the value; a body has no inner limits (C23). */
    static final JsonMapper MAPPER = JsonMapper.builder(JsonFactory.builder()
                    .disable(JsonWriteFeature.WRITE_HEX_UPPER_CASE)
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNumberLength(Books.LARGEST_BODY)
                            .maxNameLength(Books.LARGEST_BODY)
                            .build())
                    .build())
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    Json() {
        super(MediaType.APPLICATION_JSON, MediaType.APPLICATION_PROBLEM_JSON);
    }

    @Override
    protected boolean supports(Class<?> type) {
        return type.isRecord();
    }

    @Override
    protected Object readInternal(Class<?> type, HttpInputMessage input) {
        throw new UnsupportedOperationException("Books reads the only body there is");
    }

    @Override
    protected void writeInternal(Object value, HttpOutputMessage output) throws IOException {
        var bytes = MAPPER.writeValueAsBytes(value);
        output.getHeaders().setContentLength(bytes.length);
        output.getBody().write(bytes);
    }
}
