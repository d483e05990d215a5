-- 10,000 books, `Book 1` to `Book 10000`, from a digit crossed with itself four times: the next id is 10001.
-- (A recursion of 10,000 steps would exceed MySQL's cte_max_recursion_depth of 1000.)
INSERT INTO books (id, name)
SELECT id, CONCAT('Book ', id)
FROM (
    WITH RECURSIVE digit (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM digit WHERE n < 9)
    SELECT 1 + ones.n + 10 * tens.n + 100 * hundreds.n + 1000 * thousands.n AS id
    FROM digit AS ones, digit AS tens, digit AS hundreds, digit AS thousands
) AS numbers
ORDER BY id
