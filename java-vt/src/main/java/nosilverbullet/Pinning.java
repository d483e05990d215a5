package nosilverbullet;

import com.sun.jna.Library;
import com.sun.jna.Native;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.util.concurrent.locks.ReentrantLock;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.springframework.http.MediaType;
import org.springframework.util.Assert;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** C16, C17: waiting where a virtual thread may be unable to leave its carrier, and how often the JDK says that one was. */
@RestController
@RequestMapping(produces = MediaType.APPLICATION_JSON_VALUE)
class Pinning {
    record Waited(int waitedMs, String how) {}

    record Pinnings(long pinningsTotal) {}

    /** By JNA: the JDK's own way to call C is final from 22 on, and these classes run on 21 too. */
    private interface Libc extends Library {
        Libc C = Native.load(Libc.class);

        int usleep(int microseconds);
    }

    private static final String EVENT = "jdk.VirtualThreadPinned";

    private final ReentrantLock recorder = new ReentrantLock();
    private Recording recording;

    /** Monitor and lock are the request's own, so that nothing but the carrier can be contended. */
    @GetMapping("/pin")
    Waited pin(HttpServletRequest request) throws InterruptedException {
        int ms = Parameters.number(request, "ms", 0, 1000);
        var how = Parameters.word(request, "how", "synchronized", "lock", "native");
        switch (how) {
            case "synchronized" -> synchronizedOn(request, ms);
            case "lock" -> locked(new ReentrantLock(), ms);
            default -> Assert.state(Libc.C.usleep(ms * 1000) == 0, "usleep was interrupted");
        }
        return new Waited(ms, how);
    }

    /** On an object from outside: a monitor that nobody else can see is one that the compiler takes away. */
    private static void synchronizedOn(HttpServletRequest request, int ms) throws InterruptedException {
        synchronized (request) {
            Thread.sleep(ms);
        }
    }

    private static void locked(ReentrantLock lock, int ms) throws InterruptedException {
        lock.lock();
        try {
            Thread.sleep(ms);
        } finally {
            lock.unlock();
        }
    }

    /** Recording begins with the first question, so that nothing else that is measured pays for it. */
    @GetMapping("/pinnings")
    Pinnings pinnings() throws IOException {
        recorder.lock();
        try {
            if (recording == null) {
                recording = new Recording();
                recording.enable(EVENT).withoutThreshold().withoutStackTrace(); // by itself only what lasts 20 ms
                recording.start();
            }
            return new Pinnings(counted());
        } finally {
            recorder.unlock();
        }
    }

    private long counted() throws IOException {
        var file = Files.createTempFile("pinnings", ".jfr");
        try (var copy = recording.copy(true)) {
            copy.dump(file);
            return RecordingFile.readAllEvents(file).stream()
                    .filter(event -> event.getEventType().getName().equals(EVENT))
                    .count();
        } finally {
            Files.delete(file);
        }
    }
}
