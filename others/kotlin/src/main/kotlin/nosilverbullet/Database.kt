package nosilverbullet

import com.zaxxer.hikari.HikariConfig
import com.zaxxer.hikari.HikariDataSource
import org.springframework.dao.DataAccessException
import org.springframework.jdbc.CannotGetJdbcConnectionException
import org.springframework.jdbc.core.simple.JdbcClient
import org.springframework.jdbc.support.GeneratedKeyHolder
import org.springframework.stereotype.Component
import java.sql.SQLException
import java.time.LocalDateTime
import java.time.format.DateTimeFormatter
import kotlin.jvm.optionals.getOrNull

private val NOW = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSS")

/** C60, C61. Hikari opens the connections one by one in the background, with or without a database (C43). */
fun pool(settings: Settings): HikariDataSource {
    val config = HikariConfig().apply {
        maximumPoolSize = settings.poolSize
        minimumIdle = settings.poolSize
        connectionTimeout = settings.acquireTimeoutMs.toLong()
        initializationFailTimeout = -1
        idleTimeout = 0
        maxLifetime = 0
        keepaliveTime = 0
        addDataSourceProperty("useServerPrepStmts", "true")
        addDataSourceProperty("cachePrepStmts", "true")
        addDataSourceProperty("useLocalSessionState", "true")
        addDataSourceProperty("cacheServerConfiguration", "true") // 150 connections ask once
        addDataSourceProperty("characterEncoding", "UTF-8")
        addDataSourceProperty("connectionCollation", "utf8mb4_general_ci") // as java-vt
        addDataSourceProperty("sslMode", "DISABLED")
        addDataSourceProperty("allowPublicKeyRetrieval", "true") // caching_sha2_password without TLS
        addDataSourceProperty("connectTimeout", "2000")
        dataSource = Connector(settings.database, dataSourceProperties)
    }
    return HikariDataSource(config)
}

/** The statements, each one execution of a prepared statement in autocommit and nothing else (C61). */
@Component
class Database(private val pool: HikariDataSource) {
    private val client = JdbcClient.create(pool)

    /** C2 */
    fun ping() {
        ask { client.sql("SELECT 1").query(Int::class.javaObjectType).single() }
    }

    /** C7 */
    fun now(): String = NOW.format(
        ask {
            client
                .sql("SELECT NOW(6)")
                .query { row, _ -> row.getObject(1, LocalDateTime::class.java) }
                .single()
        },
    )

    /** C8 */
    fun sleep(ms: Int) {
        ask {
            client
                .sql("SELECT SLEEP(?)")
                .param(ms / 1000.0)
                .query(Int::class.javaObjectType)
                .single()
        }
    }

    /** C9 */
    fun book(id: Long): Book? = ask {
        client
            .sql("SELECT id, name FROM books WHERE id = ?")
            .param(id)
            .query { row, _ -> Book(row.getLong(1), row.getString(2)) }
            .optional()
            .getOrNull()
    }

    /** C10: the new id, which comes with the answer to the INSERT. */
    fun add(name: String): Long {
        val key = GeneratedKeyHolder()
        ask { client.sql("INSERT INTO books (name) VALUES (?)").param(name).update(key) }
        return checkNotNull(key.key).toLong()
    }

    /** C4: connections lent. */
    fun inUse() = pool.hikariPoolMXBean.activeConnections

    /** C4: requests that wait for a connection. */
    fun waiting() = pool.hikariPoolMXBean.threadsAwaitingConnection

    /** C38: tells a database that is away from a statement that is wrong. */
    private fun <T> ask(statement: () -> T): T = try {
        if (pool.hikariPoolMXBean.totalConnections == 0) {
            throw Problem.database(null) // Hikari would let it wait for its whole limit
        }
        statement()
    } catch (none: CannotGetJdbcConnectionException) {
        throw Problem.database(none)
    } catch (failure: DataAccessException) {
        if (!isLost(failure)) {
            throw failure
        }
        // Where one connection is lost the others mostly are, and nothing tests them before they are lent: all are
        // opened anew, so that only what was in flight fails.
        pool.hikariPoolMXBean.softEvictConnections()
        throw Problem.database(failure)
    }

    /** SQLSTATE class 08: the connection broke; 70100: the server killed it, as it does when it stops. */
    private fun isLost(failure: DataAccessException): Boolean {
        val state = (failure.cause as? SQLException)?.sqlState.orEmpty()
        return state.startsWith("08") || state == "70100"
    }
}
