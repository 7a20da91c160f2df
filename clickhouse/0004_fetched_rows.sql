-- A replica has fetched rows on disk before an insert that waits for both replicas ends. A server without replicas fetches nothing, and
-- ignores the setting.
--
-- readable from: 1.0.0
-- writable from: 1.0.0

ALTER TABLE clicks MODIFY SETTING min_compressed_bytes_to_fsync_after_fetch = 1;

ALTER TABLE click_index MODIFY SETTING min_compressed_bytes_to_fsync_after_fetch = 1;

ALTER TABLE conversions MODIFY SETTING min_compressed_bytes_to_fsync_after_fetch = 1;

ALTER TABLE conversion_index MODIFY SETTING min_compressed_bytes_to_fsync_after_fetch = 1;

ALTER TABLE converted_clicks MODIFY SETTING min_compressed_bytes_to_fsync_after_fetch = 1;

ALTER TABLE pixel_events MODIFY SETTING min_compressed_bytes_to_fsync_after_fetch = 1;

ALTER TABLE sums_by_day MODIFY SETTING min_compressed_bytes_to_fsync_after_fetch = 1;

ALTER TABLE sums_by_day_and_campaign MODIFY SETTING min_compressed_bytes_to_fsync_after_fetch = 1;

ALTER TABLE sums_by_quarter_hour MODIFY SETTING min_compressed_bytes_to_fsync_after_fetch = 1;

ALTER TABLE costs MODIFY SETTING min_compressed_bytes_to_fsync_after_fetch = 1;

ALTER TABLE cost_index MODIFY SETTING min_compressed_bytes_to_fsync_after_fetch = 1;
