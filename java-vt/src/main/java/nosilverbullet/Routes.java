package nosilverbullet;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Set;
import org.springframework.http.MediaType;
import org.springframework.http.converter.HttpMessageConverters;
import org.springframework.stereotype.Component;
import org.springframework.web.servlet.config.annotation.ContentNegotiationConfigurer;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import tools.jackson.databind.json.JsonMapper;

/** What every request passes; the routes themselves stand beside their handlers. */
@Component
class Routes extends HttpFilter implements WebMvcConfigurer {
    private static final long serialVersionUID = 1;
    private static final Set<String> UNCOUNTED = Set.of("/healthz", "/readyz", "/runtime", "/stats", "/pinnings");

    private final transient Stats stats;
    private final transient JsonMapper json;

    Routes(Stats stats, JsonMapper json) {
        this.stats = stats;
        this.json = json;
    }

    /** C4 */
    @Override
    protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (UNCOUNTED.contains(request.getRequestURI())) {
            chain.doFilter(plain(request), response);
            return;
        }
        long begun = stats.begin();
        try {
            chain.doFilter(plain(request), response);
        } finally {
            if (response.getStatus() != HttpServletResponse.SC_SWITCHING_PROTOCOLS) { // a socket ends later
                stats.end(begun);
            }
        }
    }

    /**
     * C21: OPTIONS and TRACE are methods like any other. Servlets and Spring answer them on their own and mistake
     * OPTIONS for CORS, but leave a name they do not know to the routes.
     */
    private static HttpServletRequest plain(HttpServletRequest request) {
        var method = request.getMethod();
        if (!method.equals("OPTIONS") && !method.equals("TRACE")) {
            return request;
        }
        return new HttpServletRequestWrapper(request) {
            @Override
            public String getMethod() {
                return "UNKNOWN";
            }
        };
    }

    @Override
    public void configureMessageConverters(HttpMessageConverters.ServerBuilder converters) {
        converters.withJsonConverter(new Json(json));
    }

    /** There is one representation of everything, and no 406 in the contract. */
    @Override
    public void configureContentNegotiation(ContentNegotiationConfigurer negotiation) {
        negotiation.ignoreAcceptHeader(true).defaultContentType(MediaType.ALL);
    }
}
