"""The log in a PostgreSQL database, which processes on several machines may share."""
