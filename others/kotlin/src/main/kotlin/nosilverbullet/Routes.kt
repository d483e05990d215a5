package nosilverbullet

import jakarta.servlet.FilterChain
import jakarta.servlet.http.HttpFilter
import jakarta.servlet.http.HttpServletRequest
import jakarta.servlet.http.HttpServletRequestWrapper
import jakarta.servlet.http.HttpServletResponse
import org.springframework.http.MediaType
import org.springframework.http.converter.HttpMessageConverters
import org.springframework.stereotype.Component
import org.springframework.web.accept.FixedContentNegotiationStrategy
import org.springframework.web.servlet.config.annotation.ContentNegotiationConfigurer
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer

private val UNCOUNTED = setOf("/healthz", "/readyz", "/runtime", "/stats")

/** What every request passes; the routes themselves stand beside their handlers. */
@Component
class Routes(private val stats: Stats) :
    HttpFilter(),
    WebMvcConfigurer {
    override fun doFilter(request: HttpServletRequest, response: HttpServletResponse, chain: FilterChain) {
        if (request.requestURI in UNCOUNTED) {
            chain.doFilter(plain(request), response)
            return
        }
        val begun = stats.begin()
        try {
            chain.doFilter(plain(request), response)
        } finally {
            if (response.status != HttpServletResponse.SC_SWITCHING_PROTOCOLS) { // a socket ends later
                stats.end(begun)
            }
        }
    }

    /**
     * C21: OPTIONS and TRACE are methods like any other. Servlets and Spring answer them on their own and mistake
     * OPTIONS for CORS, but leave a name they do not know to the routes.
     */
    private fun plain(request: HttpServletRequest): HttpServletRequest {
        if (request.method != "OPTIONS" && request.method != "TRACE") {
            return request
        }
        return object : HttpServletRequestWrapper(request) {
            override fun getMethod() = "UNKNOWN"
        }
    }

    override fun configureMessageConverters(converters: HttpMessageConverters.ServerBuilder) {
        converters.withJsonConverter(Json())
    }

    /** There is one representation of everything, and no 406 in the contract. */
    override fun configureContentNegotiation(negotiation: ContentNegotiationConfigurer) {
        negotiation.strategies(listOf(FixedContentNegotiationStrategy(MediaType.ALL)))
    }
}
