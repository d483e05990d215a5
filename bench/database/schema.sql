-- The one table (C9, C10). One statement a file: a driver sends it as it is.
-- The comment marks the table as the harness's own, which may be emptied; a table `books` without it is never touched.
CREATE TABLE IF NOT EXISTS books (
    id   BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name VARCHAR(255) NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'No Silver Bullet: filled and emptied by its harness'
