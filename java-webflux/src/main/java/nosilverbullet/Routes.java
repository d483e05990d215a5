package nosilverbullet;

import java.util.Collection;
import java.util.Set;
import org.springframework.boot.webflux.autoconfigure.WebFluxRegistrations;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.cors.reactive.CorsUtils;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.accept.RequestedContentTypeResolverBuilder;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.reactive.result.method.RequestMappingInfo;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/** What is left of routing: the routes stand beside their handlers. */
@Configuration(proxyBeanMethods = false)
class Routes implements WebFluxConfigurer, WebFluxRegistrations {

    private static final Set<String> UNCOUNTED = Set.of("/healthz", "/readyz", "/runtime", "/stats");

    /** C4: every request but C1-C4, errors too. */
    @Bean
    WebFilter counting(Stats stats) {
        return (exchange, chain) -> {
            if (UNCOUNTED.contains(exchange.getRequest().getPath().value())) {
                return chain.filter(exchange);
            }
            var begun = stats.begin();
            return chain.filter(plain(exchange)).doFinally(signal -> {
                if (!Streaming.isSocket(exchange)) { // which is in flight until it closes
                    stats.end(begun);
                }
            });
        };
    }

    /** C21: without its Origin a preflight is an OPTIONS like any other; Spring answers preflights by itself. */
    private static ServerWebExchange plain(ServerWebExchange exchange) {
        return CorsUtils.isPreFlightRequest(exchange.getRequest())
                ? exchange.mutate()
                        .request(request -> request.headers(headers -> headers.remove(HttpHeaders.ORIGIN)))
                        .build()
                : exchange;
    }

    /** The type of an answer does not depend on Accept: the contract knows no 406. */
    @Override
    public void configureContentTypeResolver(RequestedContentTypeResolverBuilder builder) {
        builder.fixedResolver(MediaType.ALL);
    }

    @Override
    public RequestMappingHandlerMapping getRequestMappingHandlerMapping() {
        return new ExactMapping();
    }

    private static final class ExactMapping extends RequestMappingHandlerMapping {

        @Override
        public Mono<HandlerMethod> getHandlerInternal(ServerWebExchange exchange) {
            // C21: Spring would answer OPTIONS by itself.
            return exchange.getRequest().getMethod() == HttpMethod.OPTIONS
                    ? Mono.error(() -> refusal(getHandlerMethods().keySet(), exchange))
                    : super.getHandlerInternal(exchange);
        }

        @Override
        protected HandlerMethod handleNoMatch(Set<RequestMappingInfo> infos, ServerWebExchange exchange) {
            throw refusal(infos, exchange);
        }

        /** C31 before C32. */
        private static Problem refusal(Collection<RequestMappingInfo> infos, ServerWebExchange exchange) {
            var path = exchange.getRequest().getPath().value();
            return infos.stream()
                    .filter(info -> info.getPatternsCondition().getMatchingCondition(exchange) != null)
                    .flatMap(info -> info.getMethodsCondition().getMethods().stream())
                    .findFirst()
                    .map(method -> Problem.methodNotAllowed(
                            method == RequestMethod.GET && !path.equals("/ws") ? "GET, HEAD" : method.name()))
                    .orElseGet(() -> Problem.notFound("nothing is here"));
        }
    }
}
