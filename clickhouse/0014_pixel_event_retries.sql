-- Server events whose insert was attempted more than once. The outcome of an attempt is unknown when the connection breaks,
-- so the rows are inserted again, and rows with equal keys stand side by side in `pixel_events` until a merge collapses
-- them. The projection `by_month` counts rows; a count of events subtracts the surplus rows of the ids in this table. Ids
-- are written here before the second attempt. An id whose event is stored once does no harm.

CREATE TABLE IF NOT EXISTS pixel_event_retries
(
    account_id  LowCardinality(String),
    id          String COMMENT 'pixel_events.id; the origin is server',
    received_at DateTime64(3, 'UTC') COMMENT 'when the event was accepted'
)
ENGINE = ReplacingMergeTree
ORDER BY (account_id, toStartOfMonth(received_at), id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
