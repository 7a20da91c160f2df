-- Generated from a migrated store; see CONTRIBUTING.md. The reasons are in the migrations.

CREATE TABLE click_index
(
    `account_id` LowCardinality(String),
    `id` String CODEC(ZSTD(1)),
    `clicked_at` DateTime64(3, 'UTC') CODEC(ZSTD(1)),
    `campaign_id` LowCardinality(String)
)
ENGINE = ReplacingMergeTree
ORDER BY (account_id, id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 0, replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_fetch = 1, initialization_retry_period = 2;

CREATE TABLE clicks
(
    `account_id` LowCardinality(String),
    `clicked_at` DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    `id` String CODEC(ZSTD(1)),
    `campaign_id` LowCardinality(String),
    `offer_id` LowCardinality(String),
    `landing_page_id` LowCardinality(String),
    `traffic_source_id` LowCardinality(String),
    `visitor_id` String CODEC(ZSTD(1)),
    `country` LowCardinality(String) COMMENT 'ISO 3166-1 alpha-2',
    `region` LowCardinality(String),
    `city` LowCardinality(String),
    `device` LowCardinality(String) COMMENT 'desktop, mobile, tablet, other',
    `os` LowCardinality(String),
    `os_version` LowCardinality(String),
    `browser` LowCardinality(String),
    `browser_version` LowCardinality(String),
    `language` LowCardinality(String),
    `referrer` String CODEC(ZSTD(1)),
    `user_agent` String CODEC(ZSTD(1)),
    `ip` String COMMENT 'last octet, or last 80 bits, zeroed before storage' CODEC(ZSTD(1)),
    `sub1` String CODEC(ZSTD(1)),
    `sub2` String CODEC(ZSTD(1)),
    `sub3` String CODEC(ZSTD(1)),
    `sub4` String CODEC(ZSTD(1)),
    `sub5` String CODEC(ZSTD(1)),
    `sub6` String CODEC(ZSTD(1)),
    `sub7` String CODEC(ZSTD(1)),
    `sub8` String CODEC(ZSTD(1)),
    `sub9` String CODEC(ZSTD(1)),
    `sub10` String CODEC(ZSTD(1)),
    `external_click_id` String CODEC(ZSTD(1)),
    `utm_source` LowCardinality(String),
    `utm_medium` LowCardinality(String),
    `utm_campaign` LowCardinality(String),
    `utm_term` String CODEC(ZSTD(1)),
    `utm_content` String CODEC(ZSTD(1)),
    `cost` Nullable(Decimal(18, 6)) COMMENT 'as received, in currency',
    `currency` LowCardinality(String) COMMENT 'ISO 4217',
    `cost_base` Nullable(Decimal(18, 6)) COMMENT 'in the currency of the account, at the rate given with it',
    `is_bot` Bool,
    `is_test` Bool,
    `stored_at` DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when this store received the row',
    `row_text` String CODEC(LZ4) TTL if(empty(account_id), toDateTime('2106-01-01 00:00:00', 'UTC'), toDateTime('2106-01-01 00:00:00', 'UTC')),
    `page_text` String MATERIALIZED concatWithSeparator('\0', campaign_id, offer_id, landing_page_id, traffic_source_id, visitor_id, country, region, city, device, os, os_version, browser, browser_version, language, referrer, user_agent, ip, sub1, sub2, sub3, sub4, sub5, sub6, sub7, sub8, sub9, sub10, external_click_id, utm_source, utm_medium, utm_campaign, utm_term, utm_content, ifNull(toString(cost), ''), currency, ifNull(toString(cost_base), ''), if(is_bot, 'true', ''), if(is_test, 'true', ''), toString(toUnixTimestamp64Milli(stored_at))) COMMENT 'what a page shows of the row; see src/rows/clicks.ts' CODEC(ZSTD(1)) SETTINGS (min_compress_block_size = 65536, max_compress_block_size = 131072),
    INDEX ids_index [visitor_id, sub1, sub2, sub3, sub4, sub5, sub6, sub7, sub8, sub9, sub10] TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX stored_at_index stored_at TYPE minmax GRANULARITY 8
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(clicked_at)
ORDER BY (account_id, clicked_at, id)
SETTINGS index_granularity = 1024, min_compress_block_size = 8192, max_compress_block_size = 16384, non_replicated_deduplication_window = 0, replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1, old_parts_lifetime = 1, min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_fetch = 1, initialization_retry_period = 2;

CREATE TABLE conversion_index
(
    `account_id` LowCardinality(String),
    `id` String CODEC(ZSTD(1)),
    `version` UInt64,
    `converted_at` DateTime64(3, 'UTC') CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (account_id, id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 0, replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_fetch = 1, initialization_retry_period = 2;

CREATE TABLE conversions
(
    `account_id` LowCardinality(String),
    `converted_at` DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    `id` String CODEC(ZSTD(1)),
    `version` UInt64 COMMENT 'set by the writer; the highest is current; each write of the id increases it',
    `is_deleted` UInt8 COMMENT '1: this version is deleted',
    `source` LowCardinality(String) COMMENT 'cpa, revenue',
    `status` LowCardinality(String) COMMENT 'approved, pending, declined, hold, refunded, chargeback',
    `external_status` LowCardinality(String) COMMENT 'as received',
    `event_name` LowCardinality(String),
    `clicked_at` Nullable(DateTime64(3, 'UTC')) COMMENT 'given, or copied from the click',
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC') COMMENT 'as received; the highest is current',
    `click_id` String CODEC(ZSTD(1)),
    `click_at` Nullable(DateTime64(3, 'UTC')) COMMENT 'clicked_at of the stored click; NULL while the click has not arrived',
    `click_campaign_id` LowCardinality(String) COMMENT 'of the stored click, also where the conversion names another',
    `click_offer_id` LowCardinality(String) COMMENT 'of the stored click, also where the conversion names another',
    `click_external_id` String COMMENT 'external_click_id of the stored click, for search' CODEC(ZSTD(1)),
    `click_referrer` String COMMENT 'referrer of the stored click, for search and reports' CODEC(ZSTD(1)),
    `click_region` LowCardinality(String),
    `click_city` LowCardinality(String),
    `click_os_version` LowCardinality(String),
    `click_browser_version` LowCardinality(String),
    `click_language` LowCardinality(String),
    `click_utm_source` LowCardinality(String),
    `click_utm_medium` LowCardinality(String),
    `click_utm_campaign` LowCardinality(String),
    `click_utm_term` String CODEC(ZSTD(1)),
    `click_utm_content` String CODEC(ZSTD(1)),
    `click_visitor_id` String CODEC(ZSTD(1)),
    `click_landing_page_id` LowCardinality(String),
    `click_traffic_source_id` LowCardinality(String),
    `click_country` LowCardinality(String),
    `click_device` LowCardinality(String),
    `click_os` LowCardinality(String),
    `click_browser` LowCardinality(String),
    `click_sub1` String CODEC(ZSTD(1)),
    `click_sub2` String CODEC(ZSTD(1)),
    `click_sub3` String CODEC(ZSTD(1)),
    `click_sub4` String CODEC(ZSTD(1)),
    `click_sub5` String CODEC(ZSTD(1)),
    `click_sub6` String CODEC(ZSTD(1)),
    `click_sub7` String CODEC(ZSTD(1)),
    `click_sub8` String CODEC(ZSTD(1)),
    `click_sub9` String CODEC(ZSTD(1)),
    `click_sub10` String CODEC(ZSTD(1)),
    `visitor_id` String CODEC(ZSTD(1)),
    `transaction_id` String CODEC(ZSTD(1)),
    `campaign_id` LowCardinality(String),
    `offer_id` LowCardinality(String),
    `landing_page_id` LowCardinality(String),
    `traffic_source_id` LowCardinality(String),
    `country` LowCardinality(String),
    `device` LowCardinality(String),
    `os` LowCardinality(String),
    `browser` LowCardinality(String),
    `sub1` String CODEC(ZSTD(1)),
    `sub2` String CODEC(ZSTD(1)),
    `sub3` String CODEC(ZSTD(1)),
    `sub4` String CODEC(ZSTD(1)),
    `sub5` String CODEC(ZSTD(1)),
    `sub6` String CODEC(ZSTD(1)),
    `sub7` String CODEC(ZSTD(1)),
    `sub8` String CODEC(ZSTD(1)),
    `sub9` String CODEC(ZSTD(1)),
    `sub10` String CODEC(ZSTD(1)),
    `payout` Nullable(Decimal(18, 6)) COMMENT 'in currency',
    `revenue` Nullable(Decimal(18, 6)) COMMENT 'in currency',
    `currency` LowCardinality(String),
    `revenue_base` Nullable(Decimal(18, 6)) COMMENT 'in the currency of the account',
    `coupon_code` LowCardinality(String),
    `is_test` Bool,
    `import_file` LowCardinality(String) COMMENT 'fingerprint of the imported file; with equal updated_at the later line of one file is current',
    `import_line` UInt64 COMMENT 'line in that file, from 1' CODEC(T64, ZSTD(1)),
    `stored_at` DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when this store received this version',
    `search_text` String MATERIALIZED replaceAll(lowerUTF8(concatWithSeparator('\0', id, click_id, transaction_id, external_status, campaign_id, offer_id, country, coupon_code, visitor_id, click_external_id, click_referrer, sub1, sub2, sub3, sub4, sub5, sub6, sub7, sub8, sub9, sub10)), 'ς', 'σ') COMMENT 'without case; a final sigma is a sigma' CODEC(ZSTD(1)),
    `row_text` String MATERIALIZED toJSONString([id, toString(source), toString(status), toString(external_status), toString(event_name), toString(toUnixTimestamp64Milli(converted_at)), ifNull(toString(toUnixTimestamp64Milli(clicked_at)), ''), toString(toUnixTimestamp64Milli(created_at)), toString(toUnixTimestamp64Milli(updated_at)), click_id, visitor_id, transaction_id, toString(campaign_id), toString(offer_id), toString(landing_page_id), toString(traffic_source_id), toString(country), toString(device), toString(os), toString(browser), sub1, sub2, sub3, sub4, sub5, sub6, sub7, sub8, sub9, sub10, ifNull(toString(payout), ''), ifNull(toString(revenue), ''), toString(currency), ifNull(toString(revenue_base), ''), toString(coupon_code), if(is_test, 'true', ''), toString(toUnixTimestamp64Milli(stored_at)), click_external_id, click_referrer]) COMMENT 'what a page shows of the row; see src/rows/conversions.ts' CODEC(ZSTD(1)),
    INDEX search_text_index search_text TYPE text(tokenizer = ngrams(3)) GRANULARITY 100000000,
    INDEX search_pairs_index lower(search_text) TYPE text(tokenizer = ngrams(2)) GRANULARITY 100000000,
    INDEX stored_at_index stored_at TYPE minmax GRANULARITY 32
)
ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (account_id, converted_at, id)
SETTINGS index_granularity = 128, min_compress_block_size = 4096, max_compress_block_size = 8192, non_replicated_deduplication_window = 0, replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1, old_parts_lifetime = 1, min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_fetch = 1, initialization_retry_period = 2;

CREATE TABLE converted_click_rows
(
    `account_id` LowCardinality(String),
    `clicked_at` DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    `id` String CODEC(ZSTD(1)),
    `campaign_id` LowCardinality(String),
    `offer_id` LowCardinality(String),
    `landing_page_id` LowCardinality(String),
    `traffic_source_id` LowCardinality(String),
    `visitor_id` String CODEC(ZSTD(1)),
    `country` LowCardinality(String) COMMENT 'ISO 3166-1 alpha-2',
    `region` LowCardinality(String),
    `city` LowCardinality(String),
    `device` LowCardinality(String) COMMENT 'desktop, mobile, tablet, other',
    `os` LowCardinality(String),
    `os_version` LowCardinality(String),
    `browser` LowCardinality(String),
    `browser_version` LowCardinality(String),
    `language` LowCardinality(String),
    `referrer` String CODEC(ZSTD(1)),
    `user_agent` String CODEC(ZSTD(1)),
    `ip` String COMMENT 'last octet, or last 80 bits, zeroed before storage' CODEC(ZSTD(1)),
    `sub1` String CODEC(ZSTD(1)),
    `sub2` String CODEC(ZSTD(1)),
    `sub3` String CODEC(ZSTD(1)),
    `sub4` String CODEC(ZSTD(1)),
    `sub5` String CODEC(ZSTD(1)),
    `sub6` String CODEC(ZSTD(1)),
    `sub7` String CODEC(ZSTD(1)),
    `sub8` String CODEC(ZSTD(1)),
    `sub9` String CODEC(ZSTD(1)),
    `sub10` String CODEC(ZSTD(1)),
    `external_click_id` String CODEC(ZSTD(1)),
    `utm_source` LowCardinality(String),
    `utm_medium` LowCardinality(String),
    `utm_campaign` LowCardinality(String),
    `utm_term` String CODEC(ZSTD(1)),
    `utm_content` String CODEC(ZSTD(1)),
    `cost` Nullable(Decimal(18, 6)) COMMENT 'as received, in currency',
    `currency` LowCardinality(String) COMMENT 'ISO 4217',
    `cost_base` Nullable(Decimal(18, 6)) COMMENT 'in the currency of the account, at the rate given with it',
    `is_bot` Bool,
    `is_test` Bool,
    `stored_at` DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when this store received the row',
    `row_text` String CODEC(LZ4) TTL if(empty(account_id), toDateTime('2106-01-01 00:00:00', 'UTC'), toDateTime('2106-01-01 00:00:00', 'UTC')),
    `page_text` String MATERIALIZED concatWithSeparator('\0', campaign_id, offer_id, landing_page_id, traffic_source_id, visitor_id, country, region, city, device, os, os_version, browser, browser_version, language, referrer, user_agent, ip, sub1, sub2, sub3, sub4, sub5, sub6, sub7, sub8, sub9, sub10, external_click_id, utm_source, utm_medium, utm_campaign, utm_term, utm_content, ifNull(toString(cost), ''), currency, ifNull(toString(cost_base), ''), if(is_bot, 'true', ''), if(is_test, 'true', ''), toString(toUnixTimestamp64Milli(stored_at))) COMMENT 'what a page shows of the row; see src/rows/clicks.ts' CODEC(ZSTD(1)) SETTINGS (min_compress_block_size = 65536, max_compress_block_size = 131072),
    INDEX ids_index [visitor_id, sub1, sub2, sub3, sub4, sub5, sub6, sub7, sub8, sub9, sub10] TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX stored_at_index stored_at TYPE minmax GRANULARITY 8
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(clicked_at)
ORDER BY (account_id, clicked_at, id)
SETTINGS index_granularity = 1024, min_compress_block_size = 8192, max_compress_block_size = 16384, non_replicated_deduplication_window = 0, replicated_deduplication_window = 0, old_parts_lifetime = 1, min_rows_to_fsync_after_merge = 1, initialization_retry_period = 2;

CREATE TABLE converted_clicks
(
    `account_id` LowCardinality(String),
    `clicked_at` DateTime64(3, 'UTC') COMMENT 'of the stored click' CODEC(Delta(8), ZSTD(1)),
    `click_id` String CODEC(ZSTD(1)),
    `conversion_id` String CODEC(ZSTD(1)),
    `version` UInt64,
    `is_deleted` UInt8,
    `is_test` Bool,
    `campaign_id` LowCardinality(String),
    `offer_id` LowCardinality(String)
)
ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (account_id, clicked_at, click_id, conversion_id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 0, replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_fetch = 1, initialization_retry_period = 2;

CREATE TABLE cost_index
(
    `account_id` LowCardinality(String),
    `id` String CODEC(ZSTD(1)),
    `version` UInt64,
    `spent_at` DateTime64(3, 'UTC') CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (account_id, id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 0, replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_fetch = 1, initialization_retry_period = 2;

CREATE TABLE costs
(
    `account_id` LowCardinality(String),
    `spent_at` DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    `id` String COMMENT 'given, or derived from time and dimensions' CODEC(ZSTD(1)),
    `version` UInt64 COMMENT 'set by the writer; the highest is current; each write of the id increases it',
    `is_deleted` UInt8 COMMENT '1: this version is deleted',
    `updated_at` DateTime64(3, 'UTC') COMMENT 'as received, or the start of the import; the highest is current',
    `campaign_id` LowCardinality(String),
    `offer_id` LowCardinality(String),
    `landing_page_id` LowCardinality(String),
    `traffic_source_id` LowCardinality(String),
    `country` LowCardinality(String) COMMENT 'ISO 3166-1 alpha-2',
    `device` LowCardinality(String) COMMENT 'desktop, mobile, tablet, other',
    `os` LowCardinality(String),
    `browser` LowCardinality(String),
    `sub1` String CODEC(ZSTD(1)),
    `sub2` String CODEC(ZSTD(1)),
    `sub3` String CODEC(ZSTD(1)),
    `sub4` String CODEC(ZSTD(1)),
    `sub5` String CODEC(ZSTD(1)),
    `sub6` String CODEC(ZSTD(1)),
    `sub7` String CODEC(ZSTD(1)),
    `sub8` String CODEC(ZSTD(1)),
    `sub9` String CODEC(ZSTD(1)),
    `sub10` String CODEC(ZSTD(1)),
    `cost` Nullable(Decimal(18, 6)) COMMENT 'as received, in currency; may be negative',
    `currency` LowCardinality(String) COMMENT 'ISO 4217',
    `cost_base` Nullable(Decimal(18, 6)) COMMENT 'in the currency of the account, at the rate given with it',
    `import_file` LowCardinality(String) COMMENT 'fingerprint of the imported file; with equal updated_at the later line of one file is current',
    `import_line` UInt64 COMMENT 'line in that file, from 1' CODEC(T64, ZSTD(1)),
    `stored_at` DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when this store received this version',
    `row_text` String MATERIALIZED toJSONString([id, toString(toUnixTimestamp64Milli(spent_at)), toString(toUnixTimestamp64Milli(updated_at)), toString(campaign_id), toString(offer_id), toString(landing_page_id), toString(traffic_source_id), toString(country), toString(device), toString(os), toString(browser), sub1, sub2, sub3, sub4, sub5, sub6, sub7, sub8, sub9, sub10, ifNull(toString(cost), ''), toString(currency), ifNull(toString(cost_base), ''), toString(toUnixTimestamp64Milli(stored_at))]) COMMENT 'what a page shows of the row; see src/rows/costs.ts' CODEC(ZSTD(1)),
    INDEX stored_at_index stored_at TYPE minmax GRANULARITY 32
)
ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (account_id, spent_at, id)
SETTINGS index_granularity = 256, min_compress_block_size = 4096, max_compress_block_size = 16384, non_replicated_deduplication_window = 0, replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_fetch = 1, initialization_retry_period = 2;

CREATE TABLE pixel_events
(
    `account_id` LowCardinality(String),
    `origin` LowCardinality(String) COMMENT 'server, browser',
    `id` String COMMENT 'event_id of the caller, or a generated UUIDv7' CODEC(NONE),
    `generation` UInt32,
    `event_name` LowCardinality(String),
    `click_id` String CODEC(ZSTD(1)),
    `visitor_id` String CODEC(ZSTD(1)),
    `campaign_id` LowCardinality(String),
    `user_id` LowCardinality(String) COMMENT 'owner of the campaign',
    `value` Nullable(Float64) COMMENT 'a signal, not money',
    `currency` LowCardinality(String),
    `properties` String COMMENT 'JSON object, or empty' CODEC(ZSTD(1)),
    `occurred_at` DateTime64(3, 'UTC') COMMENT 'the timestamp of the caller, clamped' CODEC(ZSTD(1)),
    `received_at` DateTime64(3, 'UTC') COMMENT 'when the event was accepted' CODEC(Delta(8), ZSTD(1)),
    `earliness` UInt64 MATERIALIZED 18446744073709551615 - toUnixTimestamp64Milli(received_at) COMMENT 'of rows with equal keys the earliest is kept' CODEC(Delta(8), ZSTD(1)),
    `stored_at` DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'start of the insert, by the clock of this store' CODEC(Delta(8), ZSTD(1)),
    `id_hash` UInt64 MATERIALIZED sipHash64(id) COMMENT 'read before the id, which is five times as long' CODEC(NONE),
    `visitor_hash` UInt64 MATERIALIZED sipHash64(visitor_id) COMMENT 'funnels group and join by hashes' CODEC(NONE),
    `click_hash` UInt64 MATERIALIZED sipHash64(click_id) CODEC(NONE),
    INDEX visitor_index visitor_id TYPE text(tokenizer = array) GRANULARITY 100000000,
    INDEX click_index click_id TYPE text(tokenizer = array) GRANULARITY 100000000,
    PROJECTION by_month
    (
        SELECT
            account_id,
            origin,
            toStartOfMonth(received_at) AS month,
            count(),
            countIf(empty(visitor_id))
        GROUP BY
            account_id,
            origin,
            month
    ),
    PROJECTION by_occurred_at
    (
        SELECT
            account_id,
            occurred_at,
            origin,
            id,
            generation,
            event_name,
            click_id,
            visitor_id,
            campaign_id,
            stored_at,
            visitor_hash,
            click_hash,
            id_hash
        ORDER BY
            account_id,
            occurred_at,
            origin,
            id,
            generation
    )
)
ENGINE = ReplacingMergeTree(earliness)
ORDER BY (account_id, origin, id, generation)
SETTINGS index_granularity = 256, min_compress_block_size = 4096, deduplicate_merge_projection_mode = 'rebuild', non_replicated_deduplication_window = 0, replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1, old_parts_lifetime = 1, min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_fetch = 1, initialization_retry_period = 2;

CREATE TABLE sums_by_day
(
    `account_id` LowCardinality(String),
    `dimension` LowCardinality(String) COMMENT 'campaign, country, device, os, browser, offer, landing, traffic_source',
    `day` Date COMMENT 'UTC, of clicked_at and converted_at' CODEC(Delta(2), ZSTD(1)),
    `value` String COMMENT 'of the click, or of the conversion itself; empty: absent' CODEC(ZSTD(1)),
    `clicks` Int64 CODEC(T64, LZ4),
    `conversions` Int64 COMMENT 'approved' CODEC(T64, LZ4),
    `revenue` Decimal(38, 6) COMMENT 'of approved ones; all amounts are in the currency of the account' CODEC(LZ4),
    `pending_conversions` Int64 CODEC(T64, LZ4),
    `hold_conversions` Int64 CODEC(T64, LZ4),
    `declined_conversions` Int64 CODEC(T64, LZ4),
    `refunded_conversions` Int64 COMMENT 'refunded or chargeback' CODEC(T64, LZ4),
    `pending_revenue` Decimal(38, 6) COMMENT 'of pending and hold ones' CODEC(LZ4),
    `refunded_revenue` Decimal(38, 6) COMMENT 'of refunded ones and chargebacks' CODEC(LZ4),
    `cost` Decimal(38, 6) CODEC(LZ4)
)
ENGINE = SummingMergeTree
PARTITION BY toYear(day)
ORDER BY (account_id, dimension, day, value)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 0, replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_fetch = 1, initialization_retry_period = 2;

CREATE TABLE sums_by_day_and_campaign
(
    `account_id` LowCardinality(String),
    `dimension` LowCardinality(String) COMMENT 'as in sums_by_day, without campaign',
    `campaign_id` LowCardinality(String),
    `day` Date CODEC(Delta(2), ZSTD(1)),
    `value` String CODEC(ZSTD(1)),
    `clicks` Int64 CODEC(T64, LZ4),
    `conversions` Int64 CODEC(T64, LZ4),
    `revenue` Decimal(38, 6) CODEC(LZ4),
    `pending_conversions` Int64 CODEC(T64, LZ4),
    `hold_conversions` Int64 CODEC(T64, LZ4),
    `declined_conversions` Int64 CODEC(T64, LZ4),
    `refunded_conversions` Int64 CODEC(T64, LZ4),
    `pending_revenue` Decimal(38, 6) CODEC(LZ4),
    `refunded_revenue` Decimal(38, 6) CODEC(LZ4),
    `cost` Decimal(38, 6) CODEC(LZ4)
)
ENGINE = SummingMergeTree
PARTITION BY toYear(day)
ORDER BY (account_id, dimension, campaign_id, day, value)
SETTINGS index_granularity = 512, min_compress_block_size = 8192, max_compress_block_size = 32768, non_replicated_deduplication_window = 0, replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_fetch = 1, initialization_retry_period = 2;

CREATE TABLE sums_by_quarter_hour
(
    `account_id` LowCardinality(String),
    `bucket` DateTime('UTC') COMMENT 'start of the 15 minutes' CODEC(Delta(4), ZSTD(1)),
    `campaign_id` LowCardinality(String),
    `clicks` Int64 CODEC(T64, LZ4),
    `conversions` Int64 CODEC(T64, LZ4),
    `revenue` Decimal(38, 6) CODEC(LZ4),
    `pending_conversions` Int64 CODEC(T64, LZ4),
    `hold_conversions` Int64 CODEC(T64, LZ4),
    `declined_conversions` Int64 CODEC(T64, LZ4),
    `refunded_conversions` Int64 CODEC(T64, LZ4),
    `pending_revenue` Decimal(38, 6) CODEC(LZ4),
    `refunded_revenue` Decimal(38, 6) CODEC(LZ4),
    `cost` Decimal(38, 6) CODEC(LZ4),
    PROJECTION by_account
    (
        SELECT
            account_id,
            bucket,
            sum(clicks),
            sum(conversions),
            sum(revenue),
            sum(pending_conversions),
            sum(hold_conversions),
            sum(declined_conversions),
            sum(refunded_conversions),
            sum(pending_revenue),
            sum(refunded_revenue),
            sum(cost)
        GROUP BY
            account_id,
            bucket
    )
)
ENGINE = SummingMergeTree
PARTITION BY toYear(bucket)
ORDER BY (account_id, bucket, campaign_id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 0, replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1, deduplicate_merge_projection_mode = 'rebuild', min_compressed_bytes_to_fsync_after_fetch = 1, initialization_retry_period = 2;

CREATE MATERIALIZED VIEW clicks_to_click_index TO click_index
(
    `account_id` LowCardinality(String),
    `id` String,
    `clicked_at` DateTime64(3, 'UTC'),
    `campaign_id` LowCardinality(String)
)
AS SELECT
    account_id,
    id,
    clicked_at,
    campaign_id
FROM clicks;

CREATE MATERIALIZED VIEW clicks_to_sums_by_day TO sums_by_day
(
    `account_id` LowCardinality(String),
    `dimension` String,
    `day` Date,
    `value` LowCardinality(String),
    `clicks` Int64,
    `cost` Decimal(38, 6)
)
AS SELECT
    account_id,
    dimension,
    toDate(clicked_at) AS day,
    value,
    toInt64(count()) AS clicks,
    sum(toDecimal128(ifNull(cost_base, 0), 6)) AS cost
FROM clicks
ARRAY JOIN
    ['campaign', 'country', 'device', 'os', 'browser', 'offer', 'landing', 'traffic_source'] AS dimension,
    [toString(campaign_id), toString(country), toString(device), toString(os), toString(browser), toString(offer_id), toString(landing_page_id), toString(traffic_source_id)] AS value
WHERE (NOT is_bot) AND (NOT is_test)
GROUP BY
    account_id,
    dimension,
    day,
    value;

CREATE MATERIALIZED VIEW clicks_to_sums_by_day_and_campaign TO sums_by_day_and_campaign
(
    `account_id` LowCardinality(String),
    `dimension` String,
    `campaign_id` LowCardinality(String),
    `day` Date,
    `value` LowCardinality(String),
    `clicks` Int64,
    `cost` Decimal(38, 6)
)
AS SELECT
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
    [toString(country), toString(device), toString(os), toString(browser), toString(offer_id), toString(landing_page_id), toString(traffic_source_id)] AS value
WHERE (NOT is_bot) AND (NOT is_test)
GROUP BY
    account_id,
    dimension,
    campaign_id,
    day,
    value;

CREATE MATERIALIZED VIEW clicks_to_sums_by_quarter_hour TO sums_by_quarter_hour
(
    `account_id` LowCardinality(String),
    `bucket` DateTime('UTC'),
    `campaign_id` LowCardinality(String),
    `clicks` Int64,
    `cost` Decimal(38, 6)
)
AS SELECT
    account_id,
    toStartOfFifteenMinutes(clicked_at) AS bucket,
    campaign_id,
    toInt64(count()) AS clicks,
    sum(toDecimal128(ifNull(cost_base, 0), 6)) AS cost
FROM clicks
WHERE (NOT is_bot) AND (NOT is_test)
GROUP BY
    account_id,
    bucket,
    campaign_id;

CREATE MATERIALIZED VIEW conversions_to_conversion_index TO conversion_index
(
    `account_id` LowCardinality(String),
    `id` String,
    `version` UInt64,
    `converted_at` DateTime64(3, 'UTC')
)
AS SELECT
    account_id,
    id,
    version,
    converted_at
FROM conversions
WHERE is_deleted = 0;

CREATE MATERIALIZED VIEW conversions_to_converted_clicks TO converted_clicks
(
    `account_id` LowCardinality(String),
    `clicked_at` DateTime64(3, 'UTC'),
    `click_id` String,
    `conversion_id` String,
    `version` UInt64,
    `is_deleted` UInt8,
    `is_test` Bool,
    `campaign_id` LowCardinality(String),
    `offer_id` LowCardinality(String)
)
AS SELECT
    account_id,
    assumeNotNull(click_at) AS clicked_at,
    click_id,
    id AS conversion_id,
    version,
    is_deleted,
    is_test,
    click_campaign_id AS campaign_id,
    click_offer_id AS offer_id
FROM conversions
WHERE click_at IS NOT NULL;

CREATE MATERIALIZED VIEW conversions_to_sums_by_day TO sums_by_day
(
    `account_id` LowCardinality(String),
    `dimension` String,
    `day` Date,
    `value` LowCardinality(String),
    `conversions` Int64,
    `revenue` Decimal(38, 6),
    `pending_conversions` Int64,
    `hold_conversions` Int64,
    `declined_conversions` Int64,
    `refunded_conversions` Int64,
    `pending_revenue` Decimal(38, 6),
    `refunded_revenue` Decimal(38, 6)
)
AS WITH
    toInt64(1) - (2 * is_deleted) AS sign,
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
    sumIf(sign, (status IN ('refunded', 'chargeback'))) AS refunded_conversions,
    sumIf(amount, (status IN ('pending', 'hold'))) AS pending_revenue,
    sumIf(amount, (status IN ('refunded', 'chargeback'))) AS refunded_revenue
FROM conversions
ARRAY JOIN
    ['campaign', 'country', 'device', 'os', 'browser', 'offer', 'landing', 'traffic_source'] AS dimension,
    [toString(campaign_id), toString(country), toString(device), toString(os), toString(browser), toString(offer_id), toString(landing_page_id), toString(traffic_source_id)] AS value
WHERE NOT is_test
GROUP BY
    account_id,
    dimension,
    day,
    value;

CREATE MATERIALIZED VIEW conversions_to_sums_by_day_and_campaign TO sums_by_day_and_campaign
(
    `account_id` LowCardinality(String),
    `dimension` String,
    `campaign_id` LowCardinality(String),
    `day` Date,
    `value` LowCardinality(String),
    `conversions` Int64,
    `revenue` Decimal(38, 6),
    `pending_conversions` Int64,
    `hold_conversions` Int64,
    `declined_conversions` Int64,
    `refunded_conversions` Int64,
    `pending_revenue` Decimal(38, 6),
    `refunded_revenue` Decimal(38, 6)
)
AS WITH
    toInt64(1) - (2 * is_deleted) AS sign,
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
    sumIf(sign, (status IN ('refunded', 'chargeback'))) AS refunded_conversions,
    sumIf(amount, (status IN ('pending', 'hold'))) AS pending_revenue,
    sumIf(amount, (status IN ('refunded', 'chargeback'))) AS refunded_revenue
FROM conversions
ARRAY JOIN
    ['country', 'device', 'os', 'browser', 'offer', 'landing', 'traffic_source'] AS dimension,
    [toString(country), toString(device), toString(os), toString(browser), toString(offer_id), toString(landing_page_id), toString(traffic_source_id)] AS value
WHERE NOT is_test
GROUP BY
    account_id,
    dimension,
    campaign_id,
    day,
    value;

CREATE MATERIALIZED VIEW conversions_to_sums_by_quarter_hour TO sums_by_quarter_hour
(
    `account_id` LowCardinality(String),
    `bucket` DateTime('UTC'),
    `campaign_id` LowCardinality(String),
    `conversions` Int64,
    `revenue` Decimal(38, 6),
    `pending_conversions` Int64,
    `hold_conversions` Int64,
    `declined_conversions` Int64,
    `refunded_conversions` Int64,
    `pending_revenue` Decimal(38, 6),
    `refunded_revenue` Decimal(38, 6)
)
AS WITH
    toInt64(1) - (2 * is_deleted) AS sign,
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
    sumIf(sign, (status IN ('refunded', 'chargeback'))) AS refunded_conversions,
    sumIf(amount, (status IN ('pending', 'hold'))) AS pending_revenue,
    sumIf(amount, (status IN ('refunded', 'chargeback'))) AS refunded_revenue
FROM conversions
WHERE NOT is_test
GROUP BY
    account_id,
    bucket,
    campaign_id;

CREATE MATERIALIZED VIEW costs_to_cost_index TO cost_index
(
    `account_id` LowCardinality(String),
    `id` String,
    `version` UInt64,
    `spent_at` DateTime64(3, 'UTC')
)
AS SELECT
    account_id,
    id,
    version,
    spent_at
FROM costs
WHERE is_deleted = 0;

CREATE MATERIALIZED VIEW costs_to_sums_by_day TO sums_by_day
(
    `account_id` LowCardinality(String),
    `dimension` String,
    `day` Date,
    `value` LowCardinality(String),
    `cost` Decimal(38, 6)
)
AS SELECT
    account_id,
    dimension,
    toDate(spent_at) AS day,
    value,
    sum((toInt64(1) - (2 * is_deleted)) * toDecimal128(ifNull(cost_base, 0), 6)) AS cost
FROM costs
ARRAY JOIN
    ['campaign', 'country', 'device', 'os', 'browser', 'offer', 'landing', 'traffic_source'] AS dimension,
    [toString(campaign_id), toString(country), toString(device), toString(os), toString(browser), toString(offer_id), toString(landing_page_id), toString(traffic_source_id)] AS value
GROUP BY
    account_id,
    dimension,
    day,
    value;

CREATE MATERIALIZED VIEW costs_to_sums_by_day_and_campaign TO sums_by_day_and_campaign
(
    `account_id` LowCardinality(String),
    `dimension` String,
    `campaign_id` LowCardinality(String),
    `day` Date,
    `value` LowCardinality(String),
    `cost` Decimal(38, 6)
)
AS SELECT
    account_id,
    dimension,
    campaign_id,
    toDate(spent_at) AS day,
    value,
    sum((toInt64(1) - (2 * is_deleted)) * toDecimal128(ifNull(cost_base, 0), 6)) AS cost
FROM costs
ARRAY JOIN
    ['country', 'device', 'os', 'browser', 'offer', 'landing', 'traffic_source'] AS dimension,
    [toString(country), toString(device), toString(os), toString(browser), toString(offer_id), toString(landing_page_id), toString(traffic_source_id)] AS value
GROUP BY
    account_id,
    dimension,
    campaign_id,
    day,
    value;

CREATE MATERIALIZED VIEW costs_to_sums_by_quarter_hour TO sums_by_quarter_hour
(
    `account_id` LowCardinality(String),
    `bucket` DateTime('UTC'),
    `campaign_id` LowCardinality(String),
    `cost` Decimal(38, 6)
)
AS SELECT
    account_id,
    toStartOfFifteenMinutes(spent_at) AS bucket,
    campaign_id,
    sum((toInt64(1) - (2 * is_deleted)) * toDecimal128(ifNull(cost_base, 0), 6)) AS cost
FROM costs
GROUP BY
    account_id,
    bucket,
    campaign_id;
