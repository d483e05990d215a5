package nosilverbullet;

import java.util.function.Function;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.ErrorResponse;
import org.springframework.web.reactive.function.server.HandlerFunction;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;

/** The contender java-webflux-functional: the same handlers. What these routes do not take is left to annotations. */
@Configuration(proxyBeanMethods = false)
@Profile("functional")
class FunctionalRoutes {
    @Bean
    RouterFunction<ServerResponse> functional(
            Waiting waiting, Books books, Compute compute, Fanout fanout, Problems problems) {
        return RouterFunctions.route()
                .GET("/hello", request -> answer(waiting.hello()))
                .GET("/sleep", answering(waiting::sleep))
                .GET("/sleep-query", answering(waiting::sleepQuery))
                .GET("/slow-query", answering(waiting::slowQuery))
                .GET("/books/{id}", request -> answer(books.getBook(request.pathVariable("id"))))
                .POST("/books", request -> books.newBook(asked(request)).flatMap(FunctionalRoutes::created))
                .GET("/fanout", answering(fanout::fanout))
                .GET("/compute", answering(compute::compute))
                .GET("/block", answering(compute::block))
                .filter((request, next) -> Mono.defer(() -> next.handle(request)) // which may throw
                        .onErrorResume(cause -> refusal(problems.answer(cause))))
                .build();
    }

    private static HandlerFunction<ServerResponse> answering(Function<ServerHttpRequest, Mono<?>> handler) {
        return request -> answer(handler.apply(asked(request)));
    }

    /** What the annotated handlers take. */
    private static ServerHttpRequest asked(ServerRequest request) {
        return request.exchange().getRequest();
    }

    /** Begun when the value is there, which may be a problem until then. */
    private static Mono<ServerResponse> answer(Mono<?> body) {
        return body.flatMap(value -> ServerResponse.ok().bodyValue(value));
    }

    private static Mono<ServerResponse> created(ResponseEntity<Books.Book> made) {
        return ServerResponse.created(made.getHeaders().getLocation()).bodyValue(made.getBody());
    }

    private static Mono<ServerResponse> refusal(ErrorResponse problem) {
        return ServerResponse.status(problem.getStatusCode())
                .headers(headers -> headers.addAll(problem.getHeaders()))
                .bodyValue(problem.getBody());
    }
}
