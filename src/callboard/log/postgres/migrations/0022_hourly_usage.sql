-- Tokens by hour instead of by day, so that days can be those of any time zone. `hour` is when it
-- starts, in milliseconds since 1970. `long_cache_write_tokens` are those of `cache_write_tokens` that
-- the provider keeps for an hour, at a higher price.

DROP INDEX token_usage_by_day;
ALTER TABLE token_usage RENAME COLUMN day TO hour;
ALTER TABLE token_usage ADD COLUMN long_cache_write_tokens bigint NOT NULL DEFAULT 0;
CREATE INDEX token_usage_by_hour ON token_usage (hour);
