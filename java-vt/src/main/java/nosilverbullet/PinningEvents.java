package nosilverbullet;

import java.io.IOException;
import java.nio.file.Files;
import java.util.concurrent.locks.ReentrantLock;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * C17: how often the JDK itself says that a virtual thread was pinned. Recording begins with the first question, so that
 * nothing else that is measured pays for it.
 */
@RestController
class PinningEvents {
    record Pinnings(long pinningsTotal) {}

    private static final String EVENT = "jdk.VirtualThreadPinned";

    private final ReentrantLock lock = new ReentrantLock();
    private Recording recording;

    @GetMapping("/pinnings")
    Pinnings pinnings() throws IOException {
        lock.lock();
        try {
            if (recording == null) {
                recording = new Recording();
                // By itself it would tell what lasts 20 ms or longer.
                recording.enable(EVENT).withoutThreshold().withoutStackTrace();
                recording.start();
            }
            return new Pinnings(counted());
        } finally {
            lock.unlock();
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
