-- Sums over clicks, kept up by views as clicks arrive, so that a report reads thousands of rows and not millions.
-- Bots and tests are in none of them. A view sees inserts, never merges: the sums are exact because each click is
-- inserted once (see docs/decisions.md, "Sums that stay right"). Repairs insert differences, hence signed columns.

-- One row per account, dimension, UTC day and value: one SQL text serves every grouping.
CREATE TABLE IF NOT EXISTS report_daily
(
    account_id LowCardinality(String),
    dimension  LowCardinality(String) COMMENT 'campaign, country, device, os, browser, offer, landing, traffic_source',
    day        Date CODEC(Delta, ZSTD),
    value      String COMMENT 'empty: the clicks have none' CODEC(ZSTD),
    clicks     Int64 CODEC(T64, ZSTD),
    cost       Decimal(38, 6) COMMENT 'in the currency of the account' CODEC(ZSTD)
)
ENGINE = SummingMergeTree((clicks, cost))
PARTITION BY toYear(day)
ORDER BY (account_id, dimension, day, value)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS clicks_to_report_daily TO report_daily AS
SELECT
    account_id,
    dimension,
    toDate(clicked_at) AS day,
    value,
    toInt64(count()) AS clicks,
    sum(toDecimal128(ifNull(cost_base, 0), 6)) AS cost
FROM clicks
ARRAY JOIN
    ['campaign', 'country', 'device', 'os', 'browser', 'offer', 'landing', 'traffic_source'] AS dimension,
    [toString(campaign_id), toString(country), toString(device), toString(os), toString(browser), toString(offer_id),
     toString(landing_page_id), toString(traffic_source_id)] AS value
WHERE NOT is_bot AND NOT is_test
GROUP BY account_id, dimension, day, value;

-- The same by campaign, for reports filtered to one: twenty times the rows, so unfiltered reports stay away from it.
CREATE TABLE IF NOT EXISTS report_daily_by_campaign
(
    account_id  LowCardinality(String),
    dimension   LowCardinality(String) COMMENT 'as in report_daily, without campaign',
    campaign_id LowCardinality(String),
    day         Date CODEC(Delta, ZSTD),
    value       String CODEC(ZSTD),
    clicks      Int64 CODEC(T64, ZSTD),
    cost        Decimal(38, 6) CODEC(ZSTD)
)
ENGINE = SummingMergeTree((clicks, cost))
PARTITION BY toYear(day)
ORDER BY (account_id, dimension, campaign_id, day, value)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS clicks_to_report_daily_by_campaign TO report_daily_by_campaign AS
SELECT
    account_id,
    dimension,
    campaign_id,
    toDate(clicked_at) AS day,
    value,
    toInt64(count()) AS clicks,
    sum(toDecimal128(ifNull(cost_base, 0), 6)) AS cost
FROM clicks
ARRAY JOIN
    ['country', 'device', 'os', 'browser', 'offer', 'landing', 'traffic_source'] AS dimension,
    [toString(country), toString(device), toString(os), toString(browser), toString(offer_id),
     toString(landing_page_id), toString(traffic_source_id)] AS value
WHERE NOT is_bot AND NOT is_test
GROUP BY account_id, dimension, campaign_id, day, value;

-- By quarter of an hour: local days of every zone, since all current offsets are multiples of 15 minutes.
CREATE TABLE IF NOT EXISTS clicks_by_quarter_hour
(
    account_id  LowCardinality(String),
    bucket      DateTime('UTC') COMMENT 'start of the 15 minutes' CODEC(Delta, ZSTD),
    campaign_id LowCardinality(String),
    clicks      Int64 CODEC(T64, ZSTD),
    cost        Decimal(38, 6) CODEC(ZSTD)
)
ENGINE = SummingMergeTree((clicks, cost))
PARTITION BY toYear(bucket)
ORDER BY (account_id, bucket, campaign_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS clicks_to_quarter_hour TO clicks_by_quarter_hour AS
SELECT
    account_id,
    toStartOfFifteenMinutes(clicked_at) AS bucket,
    campaign_id,
    toInt64(count()) AS clicks,
    sum(toDecimal128(ifNull(cost_base, 0), 6)) AS cost
FROM clicks
WHERE NOT is_bot AND NOT is_test
GROUP BY account_id, bucket, campaign_id;
