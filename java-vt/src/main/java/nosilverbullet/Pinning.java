package nosilverbullet;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import jakarta.servlet.http.HttpServletRequest;
import java.util.concurrent.locks.ReentrantLock;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * C16: waits where a virtual thread may be unable to leave its carrier. Monitor and lock are the request's own, so that
 * nothing but the carrier can be contended.
 */
@RestController
class Pinning {
    record Waited(int waitedMs, String how) {}

    @GetMapping("/pin")
    Waited pin(HttpServletRequest request) throws InterruptedException {
        int ms = Parameters.number(request, "ms", 0, 1000);
        var how = Parameters.word(request, "how", "synchronized", "lock", "native");
        switch (how) {
            case "synchronized" -> synchronizedOn(request, ms);
            case "lock" -> locked(ms);
            default -> Libc.sleep(ms);
        }
        return new Waited(ms, how);
    }

    /** On an object from outside: a monitor that nobody else can see is one that the compiler takes away. */
    private static void synchronizedOn(HttpServletRequest request, int ms) throws InterruptedException {
        synchronized (request) {
            Thread.sleep(ms);
        }
    }

    private static void locked(int ms) throws InterruptedException {
        var lock = new ReentrantLock();
        lock.lock();
        try {
            Thread.sleep(ms);
        } finally {
            lock.unlock();
        }
    }

    /** By JNA: the JDK's own way to call C is final from 22 on, and these classes run on 21 too. */
    private static final class Libc {
        static {
            // Where JNA unpacks its library until it is loaded; its own choice is the user's home.
            System.setProperty("jna.tmpdir", System.getProperty("java.io.tmpdir"));
            Native.register(Libc.class, NativeLibrary.getProcess());
        }

        static void sleep(int ms) {
            if (usleep(ms * 1000) != 0) {
                throw new IllegalStateException("usleep failed with errno " + Native.getLastError());
            }
        }

        private static native int usleep(int microseconds);
    }
}
