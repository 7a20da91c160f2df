-- Events of browsers and of customers' servers side by side. They are signals: nothing of theirs is in any sum over
-- clicks or conversions. The key survives a retry: generation is 0, or one more than the last when that is over
-- 24 hours old, so racing writers compute the same one and their rows collapse, onto the one that was accepted first.
--
-- Every event is looked up by its id before it is stored. Ids of a batch lie all over the table, so granules are small,
-- and the column of ids is not compressed: unpacking a block per id was two thirds of a look-up.
--
-- by_month counts events for the fair-use ceiling. A projection lives in the part that it counts: other than a view of
-- its own it costs no second part per insert, can't miss what the part has, and is counted anew when rows collapse.

CREATE TABLE IF NOT EXISTS pixel_events
(
    account_id  LowCardinality(String),
    origin      LowCardinality(String) COMMENT 'server, browser',
    id          String COMMENT 'event_id of the caller, or a UUIDv7 of ours' CODEC(NONE),
    generation  UInt32,
    event_name  LowCardinality(String),
    click_id    String CODEC(ZSTD),
    visitor_id  String CODEC(ZSTD),
    campaign_id LowCardinality(String),
    user_id     LowCardinality(String) COMMENT 'owner of the campaign',
    value       Nullable(Float64) COMMENT 'a signal, not money',
    currency    LowCardinality(String),
    properties  String COMMENT 'JSON object, or empty' CODEC(ZSTD),
    occurred_at DateTime64(3, 'UTC') COMMENT 'the timestamp of the caller, clamped' CODEC(ZSTD),
    received_at DateTime64(3, 'UTC') COMMENT 'when the event was accepted' CODEC(Delta, ZSTD),
    earliness   UInt64 MATERIALIZED 18446744073709551615 - toUnixTimestamp64Milli(received_at)
                COMMENT 'of rows with one key the earliest stays' CODEC(Delta, ZSTD),

    PROJECTION by_month
    (
        SELECT account_id, origin, toStartOfMonth(received_at) AS month, count()
        GROUP BY account_id, origin, month
    )
)
ENGINE = ReplacingMergeTree(earliness)
ORDER BY (account_id, origin, id, generation)
SETTINGS index_granularity = 256, min_compress_block_size = 4096, deduplicate_merge_projection_mode = 'rebuild',
    non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
