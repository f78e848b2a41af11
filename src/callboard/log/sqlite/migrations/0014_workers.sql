-- What each process can drive is in its lock file here; on PostgreSQL, it is in `owners`.

SELECT 1;
