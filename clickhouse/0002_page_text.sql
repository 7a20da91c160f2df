-- Pages of clicks read one column instead of forty. ClickHouse computes it from the others, so each row has it and an erasure changes it.
-- It replaces `row_text`, which the program wrote and ClickHouse emptied after two months: older pages cost twice as much. `row_text`
-- remains, empty, for versions 1.0 and 1.1, which then read the columns. Its TTL would rewrite the parts of each month once more; it is
-- moved to a time that never comes, since REMOVE TTL fails when it runs again, and a TTL has to depend on a column.
--
-- `page_text` has what a page shows of the row, except its key: values in the order of `clickTextFields` in src/rows/clicks.ts,
-- separated by NUL, which no value contains; absent values are empty. 200 clicks cost 7 ms of CPU instead of 13, and a click 73 bytes
-- more. Its blocks are larger than the blocks of other columns, which makes the column a tenth smaller and cheaper to read.
-- TRAP: ClickHouse 26.7 ignores SETTINGS of ADD COLUMN.
--
-- readable from: 1.0.0
-- writable from: 1.2.0

ALTER TABLE clicks
    ADD COLUMN IF NOT EXISTS page_text String
        MATERIALIZED concatWithSeparator('\0',
        campaign_id, offer_id, landing_page_id, traffic_source_id, visitor_id, country, region, city, device, os, os_version,
        browser, browser_version, language, referrer, user_agent, ip,
        sub1, sub2, sub3, sub4, sub5, sub6, sub7, sub8, sub9, sub10, external_click_id,
        utm_source, utm_medium, utm_campaign, utm_term, utm_content,
        ifNull(toString(cost), ''), currency, ifNull(toString(cost_base), ''),
        if(is_bot, 'true', ''), if(is_test, 'true', ''), toString(toUnixTimestamp64Milli(stored_at)))
        COMMENT 'what a page shows of the row; see src/rows/clicks.ts' CODEC(ZSTD),
    MODIFY COLUMN page_text MODIFY SETTING min_compress_block_size = 65536, max_compress_block_size = 131072;

ALTER TABLE converted_click_rows
    ADD COLUMN IF NOT EXISTS page_text String
        MATERIALIZED concatWithSeparator('\0',
        campaign_id, offer_id, landing_page_id, traffic_source_id, visitor_id, country, region, city, device, os, os_version,
        browser, browser_version, language, referrer, user_agent, ip,
        sub1, sub2, sub3, sub4, sub5, sub6, sub7, sub8, sub9, sub10, external_click_id,
        utm_source, utm_medium, utm_campaign, utm_term, utm_content,
        ifNull(toString(cost), ''), currency, ifNull(toString(cost_base), ''),
        if(is_bot, 'true', ''), if(is_test, 'true', ''), toString(toUnixTimestamp64Milli(stored_at)))
        COMMENT 'what a page shows of the row; see src/rows/clicks.ts' CODEC(ZSTD),
    MODIFY COLUMN page_text MODIFY SETTING min_compress_block_size = 65536, max_compress_block_size = 131072;

ALTER TABLE clicks MATERIALIZE COLUMN page_text;

ALTER TABLE converted_click_rows MATERIALIZE COLUMN page_text;

ALTER TABLE clicks CLEAR COLUMN IF EXISTS row_text;

ALTER TABLE clicks
    MODIFY COLUMN row_text String CODEC(LZ4)
        TTL if(empty(account_id), toDateTime('2106-01-01 00:00:00', 'UTC'), toDateTime('2106-01-01 00:00:00', 'UTC'))
    SETTINGS materialize_ttl_after_modify = 0;

ALTER TABLE converted_click_rows CLEAR COLUMN IF EXISTS row_text;

ALTER TABLE converted_click_rows
    MODIFY COLUMN row_text String CODEC(LZ4)
        TTL if(empty(account_id), toDateTime('2106-01-01 00:00:00', 'UTC'), toDateTime('2106-01-01 00:00:00', 'UTC'))
    SETTINGS materialize_ttl_after_modify = 0;
