package nosilverbullet

import com.mysql.cj.jdbc.MysqlDataSource
import java.sql.Connection
import java.sql.SQLException
import java.util.Properties

private const val PAUSE_MS = 500L

/**
 * Opens the connections of the pool, and waits where the database is away until it is back (C43): Hikari would double its
 * pause between two tries up to 5 s.
 */
class Connector(database: Settings.Login, private val properties: Properties) : MysqlDataSource() {
    init {
        setUrl(database.url)
        user = database.user
        setPassword(database.password)
    }

    override fun getConnection(login: Properties): Connection {
        login.putAll(properties)
        while (true) {
            try {
                return super.getConnection(login)
            } catch (away: SQLException) {
                pause(away)
            }
        }
    }

    private fun pause(away: SQLException) = try {
        Thread.sleep(PAUSE_MS)
    } catch (closing: InterruptedException) {
        Thread.currentThread().interrupt()
        throw away
    }
}
