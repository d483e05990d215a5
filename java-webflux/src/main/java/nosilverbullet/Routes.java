package nosilverbullet;

import java.util.Set;
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

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) { // C4
        if (UNCOUNTED.contains(exchange.getRequest().getPath().value())) {
            return chain.filter(exchange);
        }
        long begun = stats.begin();
        return chain.filter(exchange).doFinally(signal -> {
            if (!exchange.getAttributes().containsKey(Streaming.SOCKET)) { // a socket ends later
                stats.end(begun);
            }
        });
    }

    /** There is one representation of everything, and no 406 in the contract. */
    @Override
    public void configureContentTypeResolver(RequestedContentTypeResolverBuilder builder) {
        builder.fixedResolver(MediaType.ALL);
    }
}
