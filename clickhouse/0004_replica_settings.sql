-- Settings of replicas; a server without replicas ignores them.
-- - min_compressed_bytes_to_fsync_after_fetch: fetched rows are on disk before an insert that waits for both replicas ends.
-- - initialization_retry_period, seconds: a replica that was started without Keeper takes writes again so long after Keeper
--   responds. The default is a minute. It is in force from the next start of the server.
--
-- readable from: 1.0.0
-- writable from: 1.0.0

ALTER TABLE clicks
    MODIFY SETTING min_compressed_bytes_to_fsync_after_fetch = 1, initialization_retry_period = 2;

ALTER TABLE click_index
    MODIFY SETTING min_compressed_bytes_to_fsync_after_fetch = 1, initialization_retry_period = 2;

ALTER TABLE conversions
    MODIFY SETTING min_compressed_bytes_to_fsync_after_fetch = 1, initialization_retry_period = 2;

ALTER TABLE conversion_index
    MODIFY SETTING min_compressed_bytes_to_fsync_after_fetch = 1, initialization_retry_period = 2;

ALTER TABLE converted_clicks
    MODIFY SETTING min_compressed_bytes_to_fsync_after_fetch = 1, initialization_retry_period = 2;

ALTER TABLE pixel_events
    MODIFY SETTING min_compressed_bytes_to_fsync_after_fetch = 1, initialization_retry_period = 2;

ALTER TABLE sums_by_day
    MODIFY SETTING min_compressed_bytes_to_fsync_after_fetch = 1, initialization_retry_period = 2;

ALTER TABLE sums_by_day_and_campaign
    MODIFY SETTING min_compressed_bytes_to_fsync_after_fetch = 1, initialization_retry_period = 2;

ALTER TABLE sums_by_quarter_hour
    MODIFY SETTING min_compressed_bytes_to_fsync_after_fetch = 1, initialization_retry_period = 2;

ALTER TABLE costs
    MODIFY SETTING min_compressed_bytes_to_fsync_after_fetch = 1, initialization_retry_period = 2;

ALTER TABLE cost_index
    MODIFY SETTING min_compressed_bytes_to_fsync_after_fetch = 1, initialization_retry_period = 2;

ALTER TABLE converted_click_rows MODIFY SETTING initialization_retry_period = 2;
