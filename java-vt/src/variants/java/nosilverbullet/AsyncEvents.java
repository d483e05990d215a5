package nosilverbullet;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** C14 by Tomcat's asynchronous requests: a stream has a thread only while it writes an event. */
@Component
@ConditionalOnProperty(name = "events.handling", havingValue = "asynchronous")
class AsyncEvents implements WebMvcConfigurer, HandlerInterceptor {
    private final Stats stats;
    private final Streaming streams;
    private final ExecutorService threads;
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

    AsyncEvents(Stats stats, Streaming streams, ExecutorService threads) {
        this.stats = stats;
        this.streams = streams;
        this.threads = threads;
    }

    @Override
    public void addInterceptors(InterceptorRegistry registry) {
        registry.addInterceptor(this).addPathPatterns("/events");
    }

    /** In the place of {@link Streaming#events}, which is not reached. */
    @Override
    public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
        if (request.getMethod().equals("HEAD")) { // it has no body to wait for
            return true;
        }
        int intervalMs = Parameters.number(request, "interval_ms", 10, 60_000);
        response.setContentType(MediaType.TEXT_EVENT_STREAM_VALUE);
        response.setHeader(HttpHeaders.CACHE_CONTROL, "no-store");
        var stream = new Stream(request.startAsync(), intervalMs);
        streams.opened(stream.end);
        stream.write();
        return false;
    }

    private final class Stream implements AsyncListener {
        private final long begun = System.nanoTime();
        private final Runnable end = this::end;
        private final AsyncContext request;
        private final int intervalMs;
        private ScheduledFuture<?> next;
        private long number;
        private boolean ended;

        Stream(AsyncContext request, int intervalMs) {
            this.request = request;
            this.intervalMs = intervalMs;
            request.setTimeout(0); // no limit
            request.addListener(this);
        }

        /** The timer writes nothing itself: a client that does not read would hold up the events of all others. */
        synchronized void write() {
            if (ended) {
                return;
            }
            try {
                var body = request.getResponse().getOutputStream();
                body.print("data: " + number++ + "\n\n");
                body.flush();
                next = timer.schedule(() -> threads.execute(this::write), intervalMs, TimeUnit.MILLISECONDS);
            } catch (IOException left) {
                end();
            }
        }

        private synchronized void end() {
            if (!ended) {
                ended = true;
                request.complete();
            }
        }

        @Override
        public void onComplete(AsyncEvent event) {
            synchronized (this) {
                ended = true;
                if (next != null) {
                    next.cancel(false);
                }
            }
            streams.ends.remove(end);
            stats.end(begun); // Routes has left it to the stream
        }

        @Override
        public void onError(AsyncEvent event) {
            end();
        }

        @Override
        public void onTimeout(AsyncEvent event) {}

        @Override
        public void onStartAsync(AsyncEvent event) {}
    }
}
