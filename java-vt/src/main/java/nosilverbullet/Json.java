package nosilverbullet;

import java.io.IOException;
import org.springframework.http.HttpInputMessage;
import org.springframework.http.HttpOutputMessage;
import org.springframework.http.MediaType;
import org.springframework.http.converter.AbstractHttpMessageConverter;
import tools.jackson.databind.json.JsonMapper;

/** Writes an answer whole: Spring's own converter streams, and Tomcat then chunks, but C62 wants a Content-Length. */
final class Json extends AbstractHttpMessageConverter<Object> {
    private final JsonMapper mapper;

    Json(JsonMapper mapper) {
        super(MediaType.APPLICATION_JSON, MediaType.APPLICATION_PROBLEM_JSON);
        this.mapper = mapper;
    }

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
        var bytes = mapper.writeValueAsBytes(value);
        output.getHeaders().setContentLength(bytes.length);
        output.getBody().write(bytes);
    }
}
