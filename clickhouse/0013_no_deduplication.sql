-- Inserts are no longer deduplicated by ClickHouse (the headers of 0001 to 0009 still speak of tokens). It logs a token
-- before it renames the part into place and never syncs that log: after a kill between the two a repeated insert was
-- dropped although its rows were gone, after a power cut it was stored twice. What makes imports exact are the journal in
-- Postgres and the repair (docs/decisions.md, "A batch whose outcome is unknown is repaired, not repeated"); events with
-- equal keys collapse. The first setting is read by a single server's tables, the second one by replicated tables.

ALTER TABLE clicks MODIFY SETTING non_replicated_deduplication_window = 0, replicated_deduplication_window = 0;
ALTER TABLE click_index MODIFY SETTING non_replicated_deduplication_window = 0, replicated_deduplication_window = 0;
ALTER TABLE converted_click_rows MODIFY SETTING non_replicated_deduplication_window = 0, replicated_deduplication_window = 0;
ALTER TABLE conversions MODIFY SETTING non_replicated_deduplication_window = 0, replicated_deduplication_window = 0;
ALTER TABLE conversion_index MODIFY SETTING non_replicated_deduplication_window = 0, replicated_deduplication_window = 0;
ALTER TABLE converted_clicks MODIFY SETTING non_replicated_deduplication_window = 0, replicated_deduplication_window = 0;
ALTER TABLE pixel_events MODIFY SETTING non_replicated_deduplication_window = 0, replicated_deduplication_window = 0;
ALTER TABLE sums_by_day MODIFY SETTING non_replicated_deduplication_window = 0, replicated_deduplication_window = 0;
ALTER TABLE sums_by_day_and_campaign MODIFY SETTING non_replicated_deduplication_window = 0, replicated_deduplication_window = 0;
ALTER TABLE sums_by_quarter_hour MODIFY SETTING non_replicated_deduplication_window = 0, replicated_deduplication_window = 0;
