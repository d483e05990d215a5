package nosilverbullet;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Which answer a request gets (C1, C3 to C5, C30 to C32). */
final class Routes {
    private static final String PROBLEM = "application/problem+json";

    private final Service service;

    Routes(Service service) {
        this.service = service;
    }

    /** C4: neither what is no request nor the service endpoints. */
    boolean counts(Request request) {
        return request.method() != null && !isOfService(request);
    }

    private static boolean isOfService(Request request) {
        return switch (request.path()) {
            case "/healthz", "/runtime", "/stats" -> true;
            default -> false;
        };
    }

    ByteBuffer answer(Request request) {
        if (request.method() == null) {
            return problem(request, 400, "Bad Request", "this is not HTTP/1.1", "");
        }
        if (!request.path().equals("/hello") && !isOfService(request)) {
            return problem(request, 404, "Not Found", "nothing is here", "");
        }
        if (!request.method().equals("GET") && !request.method().equals("HEAD")) {
            var detail = "the method is not allowed here";
            return problem(request, 405, "Method Not Allowed", detail, "Allow: GET, HEAD\r\n");
        }
        return switch (request.path()) {
            case "/healthz" -> whole(request, "200 OK", "application/json", "{\"status\":\"ok\"}", "");
            case "/runtime" -> whole(request, "200 OK", "application/json", service.runtime(), "");
            case "/stats" -> whole(request, "200 OK", "application/json", service.stats(), "");
            default -> whole(request, "200 OK", "text/plain", "hello", "");
        };
    }

    private static ByteBuffer problem(Request request, int status, String title, String detail, String header) {
        var body = "{\"type\":\"about:blank\",\"title\":\"" + title + "\",\"status\":" + status + ",\"detail\":\""
                + detail + "\"}";
        return whole(request, status + " " + title, PROBLEM, body, header);
    }

    /** The bodies are ASCII: as many bytes as characters. */
    private static ByteBuffer whole(Request request, String status, String type, String body, String header) {
        var text = "HTTP/1.1 " + status + "\r\nContent-Type: " + type + "\r\nContent-Length: " + body.length() + "\r\n"
                + header + (request.last() ? "Connection: close\r\n\r\n" : "\r\n")
                + ("HEAD".equals(request.method()) ? "" : body);
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1));
    }
}
