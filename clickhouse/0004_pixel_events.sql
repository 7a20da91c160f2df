-- Events of browsers and of customers' servers side by side. They are signals: nothing of theirs is in any sum over
-- clicks or conversions. The key survives a retry: generation is 0, or one more than the last when that is over
-- 24 hours old, so racing writers compute the same one and their rows collapse.

CREATE TABLE IF NOT EXISTS pixel_events
(
    account_id  LowCardinality(String),
    origin      LowCardinality(String) COMMENT 'server, browser',
    id          String COMMENT 'event_id of the caller, or a UUIDv7 of ours' CODEC(ZSTD),
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
    received_at DateTime64(3, 'UTC') COMMENT 'when the event was accepted' CODEC(Delta, ZSTD)
)
ENGINE = ReplacingMergeTree
ORDER BY (account_id, origin, id, generation)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
