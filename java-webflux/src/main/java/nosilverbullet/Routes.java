package nosilverbullet;

import java.util.Set;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import org.springframework.web.reactive.accept.RequestedContentTypeResolverBuilder;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/** What every request passes; the routes themselves stand beside their handlers. */
@Component
record Routes(Stats stats) implements WebFilter, WebFluxConfigurer {
    private static final Set<String> UNCOUNTED = Set.of("/healthz", "/readyz", "/runtime", "/stats");

    /** C4 */
    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        if (UNCOUNTED.contains(exchange.getRequest().getPath().value())) {
            return chain.filter(plain(exchange));
        }
        long begun = stats.begin();
        return chain.filter(plain(exchange)).doFinally(signal -> {
            if (!exchange.getAttributes().containsKey(Streaming.SOCKET)) { // a socket ends later
                stats.end(begun);
            }
        });
    }

    /** C21: OPTIONS is a method like any other. Spring answers it on its own, but leaves a name it does not know to the routes. */
    private static ServerWebExchange plain(ServerWebExchange exchange) {
        return exchange.getRequest().getMethod().equals(HttpMethod.OPTIONS)
                ? exchange.mutate()
                        .request(request -> request.method(HttpMethod.valueOf("UNKNOWN")))
                        .build()
                : exchange;
    }

    /** There is one representation of everything, and no 406 in the contract. */
    @Override
    public void configureContentTypeResolver(RequestedContentTypeResolverBuilder builder) {
        builder.fixedResolver(MediaType.ALL);
    }
}
