-- Baseline of the ClickHouse schema, of version 1.0. Its statements never change: each change is a new file. `schema.sql` shows the
-- tables that result from all files.
--
-- readable from: 1.0.0
-- writable from: 1.0.0
--
-- ClickHouse has no transactions for table definitions: every statement can be run again after an interruption.
--
-- Settings of all tables:
-- - Absent text is the empty string (a stored value is never empty); absent amounts are NULL.
-- - ClickHouse deduplicates no inserts (windows of 0; the second is for replicated tables). It logs a deduplication token
--   before it renames the part, and never syncs that log: after a kill between the two, a repeated insert is dropped
--   although its rows are lost; after a power failure it is stored twice. The journal in Postgres and the repair make
--   imports exact (docs/decisions.md, "A batch with an unknown outcome is repaired, not repeated").
-- - fsync_after_insert and fsync_part_directory: rows are on disk before an insert is confirmed.
-- - old_parts_lifetime and min_rows_to_fsync_after_merge, on tables with personal data: parts replaced by an erasure are removed
--   from disk within seconds instead of eight minutes, so the parts that replace them are synced.
-- - Granules and blocks are smaller than the defaults: a page of rows far apart (a rare campaign, a status, a search) reads
--   a third to a half of what it would read otherwise.

-- Clicks are immutable: the first row of an id is kept.
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
    ip                String COMMENT 'last octet, or last 80 bits, zeroed before storage' CODEC(ZSTD),
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
    stored_at         DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when this store received the row',
    -- What a page shows of the row, in one column (src/query/clickText.ts); empty: read the columns. Pages are mostly of recent
    -- clicks, so ClickHouse empties it 35 days after the end of the month, which is the same moment for all rows of a part.
    -- Older rows of an import are stored without a text: with an expired TTL, ClickHouse would rewrite their parts.
    row_text          String CODEC(LZ4) TTL if(stored_at < clicked_at + toIntervalDay(66),
                          toDateTime(toStartOfMonth(clicked_at) + toIntervalMonth(1) + toIntervalDay(35), 'UTC'),
                          toDateTime('2106-01-01 00:00:00', 'UTC')),

    -- Finds the clicks of a visitor or of a rare sub id (src/query/idsIndex.ts). Of 2 million clicks, a value of one in
    -- 100,000 costs 33 of 1,964 granules, for 4 bytes a click and 1.4 µs of CPU (0.6 at the insert, the rest in merges). A
    -- text index has no false positives, but costs 34 bytes a click and three times the CPU of all merges.
    INDEX ids_index [visitor_id, sub1, sub2, sub3, sub4, sub5, sub6, sub7, sub8, sub9, sub10]
        TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX stored_at_index stored_at TYPE minmax GRANULARITY 8
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(clicked_at)
ORDER BY (account_id, clicked_at, id)
SETTINGS index_granularity = 1024, min_compress_block_size = 8192, max_compress_block_size = 16384,
    non_replicated_deduplication_window = 0, replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1,
    old_parts_lifetime = 1, min_rows_to_fsync_after_merge = 1;

-- Finds a click by its id: for attribution of events and conversions, and to detect ids that are stored already.
CREATE TABLE IF NOT EXISTS click_index
(
    account_id  LowCardinality(String),
    id          String CODEC(ZSTD),
    clicked_at  DateTime64(3, 'UTC') CODEC(ZSTD),
    campaign_id LowCardinality(String)
)
ENGINE = ReplacingMergeTree
ORDER BY (account_id, id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 0, replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS clicks_to_click_index TO click_index AS
SELECT account_id, id, clicked_at, campaign_id
FROM clicks;

-- Conversions change: pending becomes approved, approved becomes refunded. Each state is a row with its own `version`. Readers
-- collapse the versions with FINAL, bounded by account and time, before they filter on a field that may change. A change
-- inserts the old row with is_deleted = 1 and the new row in one block (docs/decisions.md, "Every change of a conversion is
-- a deletion and an insertion"). There are no partitions, so one batch is one part, stored as a whole or not at all.
CREATE TABLE IF NOT EXISTS conversions
(
    account_id        LowCardinality(String),
    converted_at      DateTime64(3, 'UTC') CODEC(Delta, ZSTD),
    id                String CODEC(ZSTD),
    version           UInt64 COMMENT 'set by the writer; the highest is current; each write of the id increases it',
    is_deleted        UInt8 COMMENT '1: this version is deleted',
    source            LowCardinality(String) COMMENT 'cpa, revenue',
    status            LowCardinality(String) COMMENT 'approved, pending, declined, hold, refunded, chargeback',
    external_status   LowCardinality(String) COMMENT 'as received',
    event_name        LowCardinality(String),
    clicked_at        Nullable(DateTime64(3, 'UTC')) COMMENT 'given, or copied from the click',
    created_at        DateTime64(3, 'UTC'),
    updated_at        DateTime64(3, 'UTC') COMMENT 'as received; the highest is current',
    click_id          String CODEC(ZSTD),
    click_at          Nullable(DateTime64(3, 'UTC')) COMMENT 'clicked_at of the stored click; NULL while the click has not arrived',
    click_campaign_id LowCardinality(String) COMMENT 'of the stored click, also where the conversion names another',
    click_offer_id    LowCardinality(String) COMMENT 'of the stored click, also where the conversion names another',
    click_external_id String COMMENT 'external_click_id of the stored click, for search' CODEC(ZSTD),
    click_referrer    String COMMENT 'referrer of the stored click, for search and reports' CODEC(ZSTD),
    -- Dimensions that only clicks have, of the stored click: reports group conversions by them and lists filter by them.
    click_region          LowCardinality(String),
    click_city            LowCardinality(String),
    click_os_version      LowCardinality(String),
    click_browser_version LowCardinality(String),
    click_language        LowCardinality(String),
    click_utm_source      LowCardinality(String),
    click_utm_medium      LowCardinality(String),
    click_utm_campaign    LowCardinality(String),
    click_utm_term        String CODEC(ZSTD),
    click_utm_content     String CODEC(ZSTD),
    -- Dimensions that conversions have too, of the stored click: a later state of the conversion gets them where it has no
    -- value of its own, also after retention has removed the click.
    click_visitor_id        String CODEC(ZSTD),
    click_landing_page_id   LowCardinality(String),
    click_traffic_source_id LowCardinality(String),
    click_country           LowCardinality(String),
    click_device            LowCardinality(String),
    click_os                LowCardinality(String),
    click_browser           LowCardinality(String),
    click_sub1              String CODEC(ZSTD),
    click_sub2              String CODEC(ZSTD),
    click_sub3              String CODEC(ZSTD),
    click_sub4              String CODEC(ZSTD),
    click_sub5              String CODEC(ZSTD),
    click_sub6              String CODEC(ZSTD),
    click_sub7              String CODEC(ZSTD),
    click_sub8              String CODEC(ZSTD),
    click_sub9              String CODEC(ZSTD),
    click_sub10             String CODEC(ZSTD),
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
    import_file       LowCardinality(String) COMMENT 'fingerprint of the imported file; with equal updated_at the later line of one file is current',
    import_line       UInt64 COMMENT 'line in that file, from 1' CODEC(T64, ZSTD),
    stored_at         DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when this store received this version',
    -- For search: the searched fields in one lower-cased column. A NUL, which no query contains, separates the fields, so
    -- a search does not match across two of them. With the index of trigrams, a search without a match in a million
    -- conversions costs 10 ms of CPU instead of 340. Column and index take three quarters of the table.
    search_text String
        MATERIALIZED replaceAll(lowerUTF8(concatWithSeparator('\0',
        id, click_id, transaction_id, external_status, campaign_id, offer_id, country, coupon_code, visitor_id,
        click_external_id, click_referrer, sub1, sub2, sub3, sub4, sub5, sub6, sub7, sub8, sub9, sub10)), 'ς', 'σ')
        COMMENT 'without case; a final sigma is a sigma' CODEC(ZSTD),
    -- For pages of rows far apart: all fields of a row in one column, a JSON array of strings in the order of `textFields`
    -- in src/rows/conversions.ts. A row of forty columns costs forty reads: 50 conversions of a search that matches one
    -- row in 3,000 cost 28 ms of CPU instead of 75. It takes a fifth of the table.
    row_text String
        MATERIALIZED toJSONString([
        id, toString(source), toString(status), toString(external_status), toString(event_name),
        toString(toUnixTimestamp64Milli(converted_at)), ifNull(toString(toUnixTimestamp64Milli(clicked_at)), ''),
        toString(toUnixTimestamp64Milli(created_at)), toString(toUnixTimestamp64Milli(updated_at)),
        click_id, visitor_id, transaction_id,
        toString(campaign_id), toString(offer_id), toString(landing_page_id), toString(traffic_source_id),
        toString(country), toString(device), toString(os), toString(browser),
        sub1, sub2, sub3, sub4, sub5, sub6, sub7, sub8, sub9, sub10,
        ifNull(toString(payout), ''), ifNull(toString(revenue), ''), toString(currency),
        ifNull(toString(revenue_base), ''), toString(coupon_code), if(is_test, 'true', ''),
        toString(toUnixTimestamp64Milli(stored_at)), click_external_id, click_referrer])
        COMMENT 'what a page shows of the row; see src/rows/conversions.ts' CODEC(ZSTD),

    INDEX search_text_index search_text TYPE text(tokenizer = ngrams(3)),
    -- For searches of two characters: 4 to 9 ms of CPU instead of 350 on a million conversions, for 50 bytes a row. A
    -- column takes one text index, so this one is on an expression: lower() does not change search_text.
    INDEX search_pairs_index lower(search_text) TYPE text(tokenizer = ngrams(2)),
    INDEX stored_at_index stored_at TYPE minmax GRANULARITY 32
)
ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (account_id, converted_at, id)
SETTINGS index_granularity = 128, min_compress_block_size = 4096, max_compress_block_size = 8192,
    non_replicated_deduplication_window = 0, replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1,
    old_parts_lifetime = 1, min_rows_to_fsync_after_merge = 1;

-- Finds the current version of a conversion by its id.
CREATE TABLE IF NOT EXISTS conversion_index
(
    account_id   LowCardinality(String),
    id           String CODEC(ZSTD),
    version      UInt64,
    converted_at DateTime64(3, 'UTC') CODEC(ZSTD)
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (account_id, id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 0, replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS conversions_to_conversion_index TO conversion_index AS
SELECT account_id, id, version, converted_at
FROM conversions
WHERE is_deleted = 0;

-- The conversions of a click, in the order of clicks: `converted` and `conversionCount` of /clicks. Campaign and offer are
-- those of the click, so that /clicks filters by them here as in `clicks`.
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
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 0, replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS conversions_to_converted_clicks TO converted_clicks AS
SELECT
    account_id, assumeNotNull(click_at) AS clicked_at, click_id, id AS conversion_id, version, is_deleted, is_test,
    click_campaign_id AS campaign_id, click_offer_id AS offer_id
FROM conversions
WHERE click_at IS NOT NULL;

-- Copies of the clicks that have conversions, for pages of `converted=true`: one click in a hundred converts, so in `clicks`
-- each would cost a granule. The writer copies a click before it writes the conversion. A click missing here is read from
-- `clicks`, so inserts need no fsync.
CREATE TABLE IF NOT EXISTS converted_click_rows AS clicks
ENGINE = ReplacingMergeTree
ORDER BY (account_id, clicked_at, id)
SETTINGS index_granularity = 1024, min_compress_block_size = 8192, max_compress_block_size = 16384,
    non_replicated_deduplication_window = 0, replicated_deduplication_window = 0,
    old_parts_lifetime = 1, min_rows_to_fsync_after_merge = 1;

-- Events of browsers and of customers' servers. They are signals and are in no sum of clicks or conversions. The key is the
-- same for every retry: generation is 0, or the last one plus 1 when that one is over 24 hours old. Concurrent writers
-- compute the same key, and their rows collapse to the one accepted first.
--
-- Every event is looked up by its id before it is stored. The ids of a batch are spread over the whole table, so granules are
-- small and the column of ids is not compressed.
--
-- by_month counts events for the fair-use ceiling, and events without a visitor for funnels; by_time serves lists and funnels in
-- the order of occurred_at. A projection is part of the same insert (a view would make a second part) and is rebuilt when a merge
-- collapses rows. The text indexes find the events of a visitor or click: one granule of 256 rows each, where a bloom filter
-- would be read as a whole.
CREATE TABLE IF NOT EXISTS pixel_events
(
    account_id  LowCardinality(String),
    origin      LowCardinality(String) COMMENT 'server, browser',
    id          String COMMENT 'event_id of the caller, or a generated UUIDv7' CODEC(NONE),
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
                COMMENT 'of rows with equal keys the earliest is kept' CODEC(Delta, ZSTD),
    stored_at   DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'start of the insert, by the clock of this store' CODEC(Delta, ZSTD),

    id_hash      UInt64 MATERIALIZED sipHash64(id) COMMENT 'read before the id, which is five times as long' CODEC(NONE),
    visitor_hash UInt64 MATERIALIZED sipHash64(visitor_id) COMMENT 'funnels group and join by hashes' CODEC(NONE),
    click_hash   UInt64 MATERIALIZED sipHash64(click_id) CODEC(NONE),

    INDEX visitor_index visitor_id TYPE text(tokenizer = array),
    INDEX click_index click_id TYPE text(tokenizer = array),
    PROJECTION by_time
    (
        SELECT account_id, occurred_at, origin, id, generation, event_name, click_id, visitor_id, campaign_id, stored_at,
            visitor_hash, click_hash
        ORDER BY account_id, occurred_at, origin, id, generation
    ),
    PROJECTION by_month
    (
        SELECT account_id, origin, toStartOfMonth(received_at) AS month, count(), countIf(empty(visitor_id))
        GROUP BY account_id, origin, month
    )
)
ENGINE = ReplacingMergeTree(earliness)
ORDER BY (account_id, origin, id, generation)
SETTINGS index_granularity = 256, min_compress_block_size = 4096, deduplicate_merge_projection_mode = 'rebuild',
    non_replicated_deduplication_window = 0, replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1,
    old_parts_lifetime = 1, min_rows_to_fsync_after_merge = 1;

-- Sums over clicks and conversions, updated by views at each insert: a report of whole days reads one small table. Views count
-- a row with is_deleted = 1 as -1. Bots and tests are excluded. Columns outside of the key are sums. A view sees inserts,
-- never merges: the sums are exact because each row is inserted once; repairs insert differences, hence signed columns.
-- LZ4 for the sums: 365 days by offer cost 14 ms of CPU instead of 18 (10 million clicks), for 50 % more disk space.

-- One row per account, dimension, UTC day and value: one SQL text serves every grouping.
CREATE TABLE IF NOT EXISTS sums_by_day
(
    account_id           LowCardinality(String),
    dimension            LowCardinality(String) COMMENT 'campaign, country, device, os, browser, offer, landing, traffic_source',
    day                  Date COMMENT 'UTC, of clicked_at and converted_at' CODEC(Delta, ZSTD),
    value                String COMMENT 'of the click, or of the conversion itself; empty: absent' CODEC(ZSTD),
    clicks               Int64 CODEC(T64, LZ4),
    conversions          Int64 COMMENT 'approved' CODEC(T64, LZ4),
    revenue              Decimal(38, 6) COMMENT 'of approved ones; all amounts are in the currency of the account' CODEC(LZ4),
    pending_conversions  Int64 CODEC(T64, LZ4),
    hold_conversions     Int64 CODEC(T64, LZ4),
    declined_conversions Int64 CODEC(T64, LZ4),
    refunded_conversions Int64 COMMENT 'refunded or chargeback' CODEC(T64, LZ4),
    pending_revenue      Decimal(38, 6) COMMENT 'of pending and hold ones' CODEC(LZ4),
    refunded_revenue     Decimal(38, 6) COMMENT 'of refunded ones and chargebacks' CODEC(LZ4),
    cost                 Decimal(38, 6) CODEC(LZ4)
)
ENGINE = SummingMergeTree
PARTITION BY toYear(day)
ORDER BY (account_id, dimension, day, value)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 0, replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1;

-- The same by campaign, for reports filtered by one. It has twenty times the rows, so unfiltered reports do not read it. Small
-- granules and blocks: 30 days by campaign and country, one range of rows per campaign, cost 40 ms of CPU instead of 55 (60
-- campaigns, 1.1 million rows), for 37 % more disk space.
CREATE TABLE IF NOT EXISTS sums_by_day_and_campaign
(
    account_id           LowCardinality(String),
    dimension            LowCardinality(String) COMMENT 'as in sums_by_day, without campaign',
    campaign_id          LowCardinality(String),
    day                  Date CODEC(Delta, ZSTD),
    value                String CODEC(ZSTD),
    clicks               Int64 CODEC(T64, LZ4),
    conversions          Int64 CODEC(T64, LZ4),
    revenue              Decimal(38, 6) CODEC(LZ4),
    pending_conversions  Int64 CODEC(T64, LZ4),
    hold_conversions     Int64 CODEC(T64, LZ4),
    declined_conversions Int64 CODEC(T64, LZ4),
    refunded_conversions Int64 CODEC(T64, LZ4),
    pending_revenue      Decimal(38, 6) CODEC(LZ4),
    refunded_revenue     Decimal(38, 6) CODEC(LZ4),
    cost                 Decimal(38, 6) CODEC(LZ4)
)
ENGINE = SummingMergeTree
PARTITION BY toYear(day)
ORDER BY (account_id, dimension, campaign_id, day, value)
SETTINGS index_granularity = 512, min_compress_block_size = 8192, max_compress_block_size = 32768,
    non_replicated_deduplication_window = 0, replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1;

-- By quarter of an hour, for local days of every time zone: all current offsets are multiples of 15 minutes. The projection
-- omits the campaign, for local days of a whole account: 90 days cost 9 ms of CPU instead of 27 (10 million clicks). It is
-- rebuilt at each merge, since merges add up the rows.
CREATE TABLE IF NOT EXISTS sums_by_quarter_hour
(
    account_id           LowCardinality(String),
    bucket               DateTime('UTC') COMMENT 'start of the 15 minutes' CODEC(Delta, ZSTD),
    campaign_id          LowCardinality(String),
    clicks               Int64 CODEC(T64, LZ4),
    conversions          Int64 CODEC(T64, LZ4),
    revenue              Decimal(38, 6) CODEC(LZ4),
    pending_conversions  Int64 CODEC(T64, LZ4),
    hold_conversions     Int64 CODEC(T64, LZ4),
    declined_conversions Int64 CODEC(T64, LZ4),
    refunded_conversions Int64 CODEC(T64, LZ4),
    pending_revenue      Decimal(38, 6) CODEC(LZ4),
    refunded_revenue     Decimal(38, 6) CODEC(LZ4),
    cost                 Decimal(38, 6) CODEC(LZ4),
    PROJECTION by_account
    (
        SELECT account_id, bucket, sum(clicks), sum(conversions), sum(revenue), sum(pending_conversions),
            sum(hold_conversions), sum(declined_conversions), sum(refunded_conversions), sum(pending_revenue),
            sum(refunded_revenue), sum(cost)
        GROUP BY account_id, bucket
    )
)
ENGINE = SummingMergeTree
PARTITION BY toYear(bucket)
ORDER BY (account_id, bucket, campaign_id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 0, replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1,
    deduplicate_merge_projection_mode = 'rebuild';

CREATE MATERIALIZED VIEW IF NOT EXISTS clicks_to_sums_by_day TO sums_by_day AS
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

CREATE MATERIALIZED VIEW IF NOT EXISTS conversions_to_sums_by_day TO sums_by_day AS
WITH
    toInt64(1) - 2 * is_deleted AS sign,
    sign * toDecimal128(ifNull(revenue_base, 0), 6) AS amount
SELECT
    account_id,
    dimension,
    toDate(converted_at) AS day,
    value,
    sumIf(sign, status = 'approved') AS conversions,
    sumIf(amount, status = 'approved') AS revenue,
    sumIf(sign, status = 'pending') AS pending_conversions,
    sumIf(sign, status = 'hold') AS hold_conversions,
    sumIf(sign, status = 'declined') AS declined_conversions,
    sumIf(sign, status IN ('refunded', 'chargeback')) AS refunded_conversions,
    sumIf(amount, status IN ('pending', 'hold')) AS pending_revenue,
    sumIf(amount, status IN ('refunded', 'chargeback')) AS refunded_revenue
FROM conversions
ARRAY JOIN
    ['campaign', 'country', 'device', 'os', 'browser', 'offer', 'landing', 'traffic_source'] AS dimension,
    [toString(campaign_id), toString(country), toString(device), toString(os), toString(browser), toString(offer_id),
     toString(landing_page_id), toString(traffic_source_id)] AS value
WHERE NOT is_test
GROUP BY account_id, dimension, day, value;

CREATE MATERIALIZED VIEW IF NOT EXISTS clicks_to_sums_by_day_and_campaign TO sums_by_day_and_campaign AS
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

CREATE MATERIALIZED VIEW IF NOT EXISTS conversions_to_sums_by_day_and_campaign TO sums_by_day_and_campaign AS
WITH
    toInt64(1) - 2 * is_deleted AS sign,
    sign * toDecimal128(ifNull(revenue_base, 0), 6) AS amount
SELECT
    account_id,
    dimension,
    campaign_id,
    toDate(converted_at) AS day,
    value,
    sumIf(sign, status = 'approved') AS conversions,
    sumIf(amount, status = 'approved') AS revenue,
    sumIf(sign, status = 'pending') AS pending_conversions,
    sumIf(sign, status = 'hold') AS hold_conversions,
    sumIf(sign, status = 'declined') AS declined_conversions,
    sumIf(sign, status IN ('refunded', 'chargeback')) AS refunded_conversions,
    sumIf(amount, status IN ('pending', 'hold')) AS pending_revenue,
    sumIf(amount, status IN ('refunded', 'chargeback')) AS refunded_revenue
FROM conversions
ARRAY JOIN
    ['country', 'device', 'os', 'browser', 'offer', 'landing', 'traffic_source'] AS dimension,
    [toString(country), toString(device), toString(os), toString(browser), toString(offer_id),
     toString(landing_page_id), toString(traffic_source_id)] AS value
WHERE NOT is_test
GROUP BY account_id, dimension, campaign_id, day, value;

CREATE MATERIALIZED VIEW IF NOT EXISTS clicks_to_sums_by_quarter_hour TO sums_by_quarter_hour AS
SELECT
    account_id,
    toStartOfFifteenMinutes(clicked_at) AS bucket,
    campaign_id,
    toInt64(count()) AS clicks,
    sum(toDecimal128(ifNull(cost_base, 0), 6)) AS cost
FROM clicks
WHERE NOT is_bot AND NOT is_test
GROUP BY account_id, bucket, campaign_id;

CREATE MATERIALIZED VIEW IF NOT EXISTS conversions_to_sums_by_quarter_hour TO sums_by_quarter_hour AS
WITH
    toInt64(1) - 2 * is_deleted AS sign,
    sign * toDecimal128(ifNull(revenue_base, 0), 6) AS amount
SELECT
    account_id,
    toStartOfFifteenMinutes(converted_at) AS bucket,
    campaign_id,
    sumIf(sign, status = 'approved') AS conversions,
    sumIf(amount, status = 'approved') AS revenue,
    sumIf(sign, status = 'pending') AS pending_conversions,
    sumIf(sign, status = 'hold') AS hold_conversions,
    sumIf(sign, status = 'declined') AS declined_conversions,
    sumIf(sign, status IN ('refunded', 'chargeback')) AS refunded_conversions,
    sumIf(amount, status IN ('pending', 'hold')) AS pending_revenue,
    sumIf(amount, status IN ('refunded', 'chargeback')) AS refunded_revenue
FROM conversions
WHERE NOT is_test
GROUP BY account_id, bucket, campaign_id;
