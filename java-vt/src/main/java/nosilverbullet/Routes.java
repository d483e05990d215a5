package nosilverbullet;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Set;
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
record Routes(Stats stats, JsonMapper json) implements Filter, WebMvcConfigurer {
    private static final Set<String> UNCOUNTED = Set.of("/healthz", "/readyz", "/runtime", "/stats", "/pinnings");

    @Override
    public void doFilter(ServletRequest any, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        var request = plain((HttpServletRequest) any);
        boolean counted = !UNCOUNTED.contains(request.getRequestURI()); // C4
        long begun = counted ? stats.begin() : 0;
        try {
            chain.doFilter(request, response);
        } finally {
            int status = ((HttpServletResponse) response).getStatus();
            if (counted && status != HttpServletResponse.SC_SWITCHING_PROTOCOLS) { // a socket ends later
                stats.end(begun);
            }
        }
    }

    /**
     * C21: OPTIONS and TRACE are methods like any other. Servlets and Spring answer them on their own and mistake
     * OPTIONS for CORS, but leave a name they do not know to the routes.
     */
    private static HttpServletRequest plain(HttpServletRequest request) {
        return switch (request.getMethod()) {
            case "OPTIONS", "TRACE" ->
                new HttpServletRequestWrapper(request) {
                    @Override
                    public String getMethod() {
                        return "UNKNOWN";
                    }
                };
            default -> request;
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

    /** Writes an answer whole: Spring's own converter streams, and Tomcat then chunks, but C62 wants a Content-Length. */
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
