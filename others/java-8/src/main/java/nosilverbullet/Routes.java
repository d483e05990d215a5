package nosilverbullet;

import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import javax.servlet.FilterChain;
import javax.servlet.ServletException;
import javax.servlet.http.HttpFilter;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletRequestWrapper;
import javax.servlet.http.HttpServletResponse;
import org.springframework.http.MediaType;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.stereotype.Component;
import org.springframework.web.accept.FixedContentNegotiationStrategy;
import org.springframework.web.servlet.config.annotation.ContentNegotiationConfigurer;
import org.springframework.web.servlet.config.annotation.PathMatchConfigurer;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** What every request passes; the routes themselves stand beside their handlers. */
@Component
class Routes extends HttpFilter implements WebMvcConfigurer {
    private static final long serialVersionUID = 1;
    private static final List<String> UNCOUNTED = Arrays.asList("/healthz", "/readyz", "/runtime", "/stats");

    private final transient Stats stats;

    Routes(Stats stats) {
        this.stats = stats;
    }

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
        String method = request.getMethod();
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

    /** Before Spring's own, which streams. */
    @Override
    public void extendMessageConverters(List<HttpMessageConverter<?>> converters) {
        converters.add(0, new Json());
    }

    /** C20 */
    @Override
    public void configurePathMatch(PathMatchConfigurer paths) {
        paths.setUseTrailingSlashMatch(false);
    }

    /** There is one representation of everything, and no 406 in the contract. */
    @Override
    public void configureContentNegotiation(ContentNegotiationConfigurer negotiation) {
        negotiation.strategies(Collections.singletonList(new FixedContentNegotiationStrategy(MediaType.ALL)));
    }
}
