-- Clicks and the index that finds one by its id. A click is immutable: the first one with an id wins.
-- Absent text is the empty string (no value of ours is empty), absent amounts are NULL.
-- Every insert brings its own deduplication token, so that sending a batch again changes nothing here or in any view.
-- Small granules and blocks: a page whose rows lie far apart (a rare campaign) reads half of what it would otherwise.

CREATE TABLE IF NOT EXISTS clicks
(
    account_id        LowCardinality(String),
    clicked_at        DateTime64(3, 'UTC') CODEC(Delta, ZSTD),
    id                String CODEC(ZSTD),
    campaign_id       LowCardinality(String),
    offer_id          LowCardinality(String),
    landing_page_id   LowCardinality(String),
    traffic_source_id LowCardinality(String),
    visitor_id        String CODEC(ZSTD),
    country           LowCardinality(String) COMMENT 'ISO 3166-1 alpha-2',
    region            LowCardinality(String),
    city              LowCardinality(String),
    device            LowCardinality(String) COMMENT 'desktop, mobile, tablet, other',
    os                LowCardinality(String),
    os_version        LowCardinality(String),
    browser           LowCardinality(String),
    browser_version   LowCardinality(String),
    language          LowCardinality(String),
    referrer          String CODEC(ZSTD),
    user_agent        String CODEC(ZSTD),
    ip                String COMMENT 'last octet, or last 80 bits, zeroed before it came here' CODEC(ZSTD),
    sub1              String CODEC(ZSTD),
    sub2              String CODEC(ZSTD),
    sub3              String CODEC(ZSTD),
    sub4              String CODEC(ZSTD),
    sub5              String CODEC(ZSTD),
    sub6              String CODEC(ZSTD),
    sub7              String CODEC(ZSTD),
    sub8              String CODEC(ZSTD),
    sub9              String CODEC(ZSTD),
    sub10             String CODEC(ZSTD),
    external_click_id String CODEC(ZSTD),
    utm_source        LowCardinality(String),
    utm_medium        LowCardinality(String),
    utm_campaign      LowCardinality(String),
    utm_term          String CODEC(ZSTD),
    utm_content       String CODEC(ZSTD),
    cost              Nullable(Decimal(18, 6)) COMMENT 'as received, in currency',
    currency          LowCardinality(String) COMMENT 'ISO 4217',
    cost_base         Nullable(Decimal(18, 6)) COMMENT 'in the currency of the account, at the rate given with it',
    is_bot            Bool,
    is_test           Bool,
    stored_at         DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when our store took the row'
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(clicked_at)
ORDER BY (account_id, clicked_at, id)
SETTINGS index_granularity = 1024, min_compress_block_size = 8192, max_compress_block_size = 16384,
    non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

-- From a click's id to its place in `clicks`: attribution of events and conversions, and "is it stored already?".
CREATE TABLE IF NOT EXISTS click_index
(
    account_id  LowCardinality(String),
    id          String CODEC(ZSTD),
    clicked_at  DateTime64(3, 'UTC') CODEC(ZSTD),
    campaign_id LowCardinality(String)
)
ENGINE = ReplacingMergeTree
ORDER BY (account_id, id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS clicks_to_click_index TO click_index AS
SELECT account_id, id, clicked_at, campaign_id
FROM clicks;
