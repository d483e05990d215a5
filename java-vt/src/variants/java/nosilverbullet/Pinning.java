package nosilverbullet;

import com.sun.jna.NativeLibrary;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.util.concurrent.locks.ReentrantLock;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.springframework.util.Assert;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** C16, C17: waiting where a virtual thread may keep its carrier, and how often the JDK says that one did. */
@RestController
class Pinning {
    record Waited(int waitedMs, String how) {}

    record Pinnings(long pinningsTotal) {}

    static {
        System.setProperty("jna.tmpdir", System.getProperty("java.io.tmpdir")); // JNA's own choice is the user's home
    }

    /** Begins with the first question, so that nothing else that is measured pays for it. */
    private static final class Recorder {
        static final String EVENT = "jdk.VirtualThreadPinned";
        static final Recording RECORDING = new Recording();

        static {
            RECORDING.enable(EVENT).withoutThreshold().withoutStackTrace(); // by itself only what lasts 20 ms
            RECORDING.start();
        }
    }

    /** Monitor and lock are the request's own, so that nothing but the carrier can be contended. */
    @GetMapping("/pin")
    Waited pin(HttpServletRequest request) throws InterruptedException {
        int ms = Parameters.number(request, "ms", 0, 1000);
        var how = Parameters.word(request, "how", "synchronized", "lock", "native");
        switch (how) {
            case "synchronized" -> {
                synchronized (request) { // from outside: the compiler takes away a monitor that nobody else can see
                    Thread.sleep(ms);
                }
            }
            case "lock" -> {
                var lock = new ReentrantLock();
                lock.lock();
                try {
                    Thread.sleep(ms);
                } finally {
                    lock.unlock();
                }
            }
            default -> { // by JNA: the JDK's own way to call C is final from 22 on, and these classes run on 21 too
                var usleep = NativeLibrary.getProcess().getFunction("usleep");
                Assert.state(usleep.invokeInt(new Object[] {ms * 1000}) == 0, "usleep was interrupted");
            }
        }
        return new Waited(ms, how);
    }

    @GetMapping("/pinnings")
    Pinnings pinnings() throws IOException {
        var file = Files.createTempFile("pinnings", ".jfr");
        try {
            Recorder.RECORDING.dump(file);
            return new Pinnings(RecordingFile.readAllEvents(file).stream()
                    .filter(event -> event.getEventType().getName().equals(Recorder.EVENT))
                    .count());
        } finally {
            Files.delete(file);
        }
    }
}
