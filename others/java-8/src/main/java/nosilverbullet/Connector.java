package nosilverbullet;

import com.mysql.cj.jdbc.MysqlDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Properties;

/**
 * Opens the connections of the pool, and waits where the database is away until it is back (C43): Hikari would double its
 * pause between two tries up to 5 s.
 */
class Connector extends MysqlDataSource {
    private static final long serialVersionUID = 1;
    private static final int PAUSE_MS = 500;

    private final Properties properties;

    Connector(Settings.Login database, Properties properties) {
        setUrl(database.url);
        setUser(database.user);
        setPassword(database.password);
        this.properties = properties;
    }

    @Override
    protected Connection getConnection(Properties login) throws SQLException {
        login.putAll(properties);
        while (true) {
            try {
                return super.getConnection(login);
            } catch (SQLException away) {
                pause(away);
            }
        }
    }

    private static void pause(SQLException away) throws SQLException {
        try {
            Thread.sleep(PAUSE_MS);
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
            throw away;
        }
    }
}
