package nosilverbullet;

import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Set;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpInputMessage;
import org.springframework.http.HttpOutputMessage;
import org.springframework.http.MediaType;
import org.springframework.http.converter.AbstractHttpMessageConverter;
import org.springframework.http.converter.HttpMessageConverters;
import org.springframework.stereotype.Component;
import org.springframework.web.servlet.config.annotation.ContentNegotiationConfigurer;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import tools.jackson.databind.json.JsonMapper;

/** What every request passes, and what writes its answer; the routes themselves stand beside their handlers. */
@Component
record Routes(JsonMapper json) implements WebMvcConfigurer {
    private static final Set<String> UNCOUNTED = Set.of("/healthz", "/readyz", "/runtime", "/stats", "/pinnings");

    @Bean
    static Filter counting(Stats stats) { // C4
        return (request, response, chain) -> {
            boolean counted = !UNCOUNTED.contains(((HttpServletRequest) request).getRequestURI());
            long begun = counted ? stats.begin() : 0;
            try {
                chain.doFilter(request, response);
            } finally {
                int status = ((HttpServletResponse) response).getStatus();
                boolean lasts = status == HttpServletResponse.SC_SWITCHING_PROTOCOLS || request.isAsyncStarted();
                if (counted && !lasts) { // else it ends later, by itself
                    stats.end(begun);
                }
            }
        };
    }

    /** There is one representation of everything, and no 406 in the contract. */
    @Override
    public void configureContentNegotiation(ContentNegotiationConfigurer negotiation) {
        negotiation.ignoreAcceptHeader(true).defaultContentType(MediaType.ALL);
    }

    @Override
    public void configureMessageConverters(HttpMessageConverters.ServerBuilder converters) {
        converters.withJsonConverter(new Json());
    }

    /** Writes an answer whole, with its length (C62): Spring's own converter streams, and Tomcat then chunks. */
    private final class Json extends AbstractHttpMessageConverter<Object> {
        private Json() {
            super(MediaType.APPLICATION_JSON, MediaType.APPLICATION_PROBLEM_JSON);
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
            var bytes = json.writeValueAsBytes(value);
            output.getHeaders().setContentLength(bytes.length);
            output.getBody().write(bytes);
        }
    }
}
