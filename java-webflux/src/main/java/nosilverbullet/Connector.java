package nosilverbullet;

import com.mysql.cj.jdbc.MysqlDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Properties;
import java.util.concurrent.locks.LockSupport;

/**
 * Opens the connections of the pool, and waits where the database is away until it is back (C43): Hikari would double its
 * pause between two tries up to 5 s.
 */
final class Connector extends MysqlDataSource {
    private static final long serialVersionUID = 1;
    private static final long PAUSE_NANOS = 500_000_000;
    private static final String OPTIONS = "&cachePrepStmts=true&useLocalSessionState=true&connectTimeout=2000"
            + "&cacheServerConfiguration=true" // 150 connections ask once
            // By its collation, because 8.2.0 mistakes others for UTF-8 on a run time without the module jdk.charsets.
            + "&characterEncoding=UTF-8&connectionCollation=utf8mb4_general_ci"
            + "&sslMode=DISABLED&allowPublicKeyRetrieval=true"; // caching_sha2_password without TLS

    Connector(String database, boolean prepared) {
        // The driver decodes a plus as a blank.
        setUrl("jdbc:" + database.replace("+", "%2B") + "?useServerPrepStmts=" + prepared + OPTIONS);
    }

    @Override
    protected Connection getConnection(Properties login) throws SQLException {
        while (true) {
            try {
                return super.getConnection(login);
            } catch (SQLException away) {
                LockSupport.parkNanos(PAUSE_NANOS);
                if (Thread.currentThread().isInterrupted()) { // the pool is closing
                    throw away;
                }
            }
        }
    }
}
