-- Costs are facts beside clicks and conversions: what a network reports as spent, often hours later and corrected. Views add them
-- to the column `cost` of the sums tables.
--
-- Earlier versions read the sums with these costs, and other reports, from rows, without them, so they are stopped before the first import of
-- costs. Until then their numbers do not change.
--
-- readable from: 1.0.0
-- writable from: 1.2.0

-- Costs change as conversions do (0001): a change inserts the old row with is_deleted = 1 and the new row in one block. A cost
-- that is taken back is a row with the cost 0. Amounts are never NULL; they are Nullable so that one expression adds up the costs of
-- clicks and of these rows.
CREATE TABLE IF NOT EXISTS costs
(
    account_id        LowCardinality(String),
    spent_at          DateTime64(3, 'UTC') CODEC(Delta, ZSTD),
    id                String COMMENT 'given, or derived from time and dimensions' CODEC(ZSTD),
    version           UInt64 COMMENT 'set by the writer; the highest is current; each write of the id increases it',
    is_deleted        UInt8 COMMENT '1: this version is deleted',
    updated_at        DateTime64(3, 'UTC') COMMENT 'as received, or the start of the import; the highest is current',
    campaign_id       LowCardinality(String),
    offer_id          LowCardinality(String),
    landing_page_id   LowCardinality(String),
    traffic_source_id LowCardinality(String),
    country           LowCardinality(String) COMMENT 'ISO 3166-1 alpha-2',
    device            LowCardinality(String) COMMENT 'desktop, mobile, tablet, other',
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
    cost              Nullable(Decimal(18, 6)) COMMENT 'as received, in currency; may be negative',
    currency          LowCardinality(String) COMMENT 'ISO 4217',
    cost_base         Nullable(Decimal(18, 6)) COMMENT 'in the currency of the account, at the rate given with it',
    import_file       LowCardinality(String) COMMENT 'fingerprint of the imported file; with equal updated_at the later line of one file is current',
    import_line       UInt64 COMMENT 'line in that file, from 1' CODEC(T64, ZSTD),
    stored_at         DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when this store received this version',
    -- As in conversions: all fields of a row, a JSON array of strings in the order of `costTextFields` in src/rows/costs.ts.
    row_text String
        MATERIALIZED toJSONString([
        id, toString(toUnixTimestamp64Milli(spent_at)), toString(toUnixTimestamp64Milli(updated_at)),
        toString(campaign_id), toString(offer_id), toString(landing_page_id), toString(traffic_source_id),
        toString(country), toString(device), toString(os), toString(browser),
        sub1, sub2, sub3, sub4, sub5, sub6, sub7, sub8, sub9, sub10,
        ifNull(toString(cost), ''), toString(currency), ifNull(toString(cost_base), ''),
        toString(toUnixTimestamp64Milli(stored_at))])
        COMMENT 'what a page shows of the row; see src/rows/costs.ts' CODEC(ZSTD),

    INDEX stored_at_index stored_at TYPE minmax GRANULARITY 32
)
ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (account_id, spent_at, id)
SETTINGS index_granularity = 256, min_compress_block_size = 4096, max_compress_block_size = 16384,
    non_replicated_deduplication_window = 0, replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1;

-- Finds the current version of a cost by its id.
CREATE TABLE IF NOT EXISTS cost_index
(
    account_id LowCardinality(String),
    id         String CODEC(ZSTD),
    version    UInt64,
    spent_at   DateTime64(3, 'UTC') CODEC(ZSTD)
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (account_id, id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 0, replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS costs_to_cost_index TO cost_index AS
SELECT account_id, id, version, spent_at
FROM costs
WHERE is_deleted = 0;

CREATE MATERIALIZED VIEW IF NOT EXISTS costs_to_sums_by_day TO sums_by_day AS
SELECT
    account_id,
    dimension,
    toDate(spent_at) AS day,
    value,
    sum((toInt64(1) - 2 * is_deleted) * toDecimal128(ifNull(cost_base, 0), 6)) AS cost
FROM costs
ARRAY JOIN
    ['campaign', 'country', 'device', 'os', 'browser', 'offer', 'landing', 'traffic_source'] AS dimension,
    [toString(campaign_id), toString(country), toString(device), toString(os), toString(browser), toString(offer_id),
     toString(landing_page_id), toString(traffic_source_id)] AS value
GROUP BY account_id, dimension, day, value;

CREATE MATERIALIZED VIEW IF NOT EXISTS costs_to_sums_by_day_and_campaign TO sums_by_day_and_campaign AS
SELECT
    account_id,
    dimension,
    campaign_id,
    toDate(spent_at) AS day,
    value,
    sum((toInt64(1) - 2 * is_deleted) * toDecimal128(ifNull(cost_base, 0), 6)) AS cost
FROM costs
ARRAY JOIN
    ['country', 'device', 'os', 'browser', 'offer', 'landing', 'traffic_source'] AS dimension,
    [toString(country), toString(device), toString(os), toString(browser), toString(offer_id),
     toString(landing_page_id), toString(traffic_source_id)] AS value
GROUP BY account_id, dimension, campaign_id, day, value;

CREATE MATERIALIZED VIEW IF NOT EXISTS costs_to_sums_by_quarter_hour TO sums_by_quarter_hour AS
SELECT
    account_id,
    toStartOfFifteenMinutes(spent_at) AS bucket,
    campaign_id,
    sum((toInt64(1) - 2 * is_deleted) * toDecimal128(ifNull(cost_base, 0), 6)) AS cost
FROM costs
GROUP BY account_id, bucket, campaign_id;
