-- Conversions change: pending becomes approved, approved becomes refunded. Each state is a row of its own `version`,
-- and readers collapse them with FINAL under account and time bounds before they filter on anything that may change.
-- The sort key holds converted_at and click; when an upsert changes one of those, the writer also inserts the old row
-- with is_deleted = 1, here and so in every view below. No partitions: one batch is one part, all of it or nothing.
-- Small granules and blocks: a page of rare rows (a status, a search) reads a third of what it would with the defaults.

CREATE TABLE IF NOT EXISTS conversions
(
    account_id        LowCardinality(String),
    converted_at      DateTime64(3, 'UTC') CODEC(Delta, ZSTD),
    id                String CODEC(ZSTD),
    version           UInt64 COMMENT 'given by the writer, higher wins; grows with every write of the id',
    is_deleted        UInt8 COMMENT '1: the row has moved to another key',
    source            LowCardinality(String) COMMENT 'cpa, revenue',
    status            LowCardinality(String) COMMENT 'approved, pending, declined, hold, refunded, chargeback',
    external_status   LowCardinality(String) COMMENT 'the word of the sender',
    event_name        LowCardinality(String),
    clicked_at        Nullable(DateTime64(3, 'UTC')) COMMENT 'given, or copied from the click',
    created_at        DateTime64(3, 'UTC'),
    updated_at        DateTime64(3, 'UTC') COMMENT 'of the sender; the higher one wins',
    click_id          String CODEC(ZSTD),
    click_at          Nullable(DateTime64(3, 'UTC')) COMMENT 'clicked_at of the stored click; NULL while the click has not arrived',
    click_campaign_id LowCardinality(String) COMMENT 'of the stored click, also where the conversion names another',
    click_offer_id    LowCardinality(String) COMMENT 'of the stored click, also where the conversion names another',
    click_external_id String COMMENT 'external_click_id of the stored click, for search' CODEC(ZSTD),
    click_referrer    String COMMENT 'referrer of the stored click, for search' CODEC(ZSTD),
    visitor_id        String CODEC(ZSTD),
    transaction_id    String CODEC(ZSTD),
    campaign_id       LowCardinality(String),
    offer_id          LowCardinality(String),
    landing_page_id   LowCardinality(String),
    traffic_source_id LowCardinality(String),
    country           LowCardinality(String),
    device            LowCardinality(String),
    os                LowCardinality(String),
    browser           LowCardinality(String),
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
    payout            Nullable(Decimal(18, 6)) COMMENT 'in currency',
    revenue           Nullable(Decimal(18, 6)) COMMENT 'in currency',
    currency          LowCardinality(String),
    revenue_base      Nullable(Decimal(18, 6)) COMMENT 'in the currency of the account',
    coupon_code       LowCardinality(String),
    is_test           Bool,
    import_file       LowCardinality(String) COMMENT 'fingerprint of the file it came from; with equal updated_at the later line of one file wins',
    import_line       UInt64 COMMENT 'its line there, from 1' CODEC(T64, ZSTD),
    stored_at         DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when our store took this version'
)
ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (account_id, converted_at, id)
SETTINGS index_granularity = 512, min_compress_block_size = 4096, max_compress_block_size = 8192,
    non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

-- From a conversion's id to its present place.
CREATE TABLE IF NOT EXISTS conversion_index
(
    account_id   LowCardinality(String),
    id           String CODEC(ZSTD),
    version      UInt64,
    converted_at DateTime64(3, 'UTC') CODEC(ZSTD)
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (account_id, id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS conversions_to_conversion_index TO conversion_index AS
SELECT account_id, id, version, converted_at
FROM conversions
WHERE is_deleted = 0;

-- The conversions of a click, in the order of clicks: `converted` and `conversionCount` of /clicks. Campaign and offer
-- are the click's, so that /clicks filters by them here as it does in `clicks`.
CREATE TABLE IF NOT EXISTS converted_clicks
(
    account_id    LowCardinality(String),
    clicked_at    DateTime64(3, 'UTC') COMMENT 'of the stored click' CODEC(Delta, ZSTD),
    click_id      String CODEC(ZSTD),
    conversion_id String CODEC(ZSTD),
    version       UInt64,
    is_deleted    UInt8,
    is_test       Bool,
    campaign_id   LowCardinality(String),
    offer_id      LowCardinality(String)
)
ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (account_id, clicked_at, click_id, conversion_id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS conversions_to_converted_clicks TO converted_clicks AS
SELECT
    account_id, assumeNotNull(click_at) AS clicked_at, click_id, id AS conversion_id, version, is_deleted, is_test,
    click_campaign_id AS campaign_id, click_offer_id AS offer_id
FROM conversions
WHERE click_at IS NOT NULL;
