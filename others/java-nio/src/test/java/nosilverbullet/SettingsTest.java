package nosilverbullet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;

/** The settings of contract/ that need neither database nor upstream. */
class SettingsTest {
    @Test
    void startsWithGoodSettingsAndRefusesWrongOnes() throws Exception { // C42
        for (var variable : Exchanges.contract("settings.json").path("variables")) {
            if (!variable.path("needs").isEmpty()) {
                continue;
            }
            var name = variable.path("variable").stringValue();
            for (var value : variable.path("good")) {
                Settings.from(Map.of(name, value.stringValue()));
            }
            for (var value : variable.path("bad")) {
                var bad = value.stringValue();
                var said = assertThrows(Settings.Wrong.class, () -> Settings.from(Map.of(name, bad)))
                        .getMessage();
                if (variable.has("sentence")) {
                    assertEquals(variable.path("sentence").stringValue().replace("{value}", bad), said);
                } else {
                    assertTrue(
                            said.startsWith(
                                    variable.path("begins").stringValue().replace("{value}", bad)),
                            said);
                }
            }
        }
    }
}
