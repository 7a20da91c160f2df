-- Costs are written, counted and read by `storedAt` as clicks and conversions are. The latest time of an account's rows is recorded when
-- a batch is confirmed, so that a report says up to when there are clicks. Migrated accounts get it from ClickHouse within a minute.
--
-- readable from: 1.0.0
-- writable from: 1.2.0

ALTER TABLE import_batches
  -- The latest time of the new rows that was not in the future when the batch was recorded; -infinity: all were; NULL: it has no new rows.
  ADD COLUMN through_at timestamptz(3),
  -- The earliest time of the new rows that was in the future; NULL: there is none.
  ADD COLUMN ahead_at timestamptz(3),
  DROP CONSTRAINT import_batches_resource_check,
  ADD CONSTRAINT import_batches_resource_check CHECK (resource IN ('clicks', 'conversions', 'costs'));

ALTER TABLE stored_rows
  DROP CONSTRAINT stored_rows_resource_check,
  ADD CONSTRAINT stored_rows_resource_check CHECK (resource IN ('clicks', 'conversions', 'costs'));

ALTER TABLE watermarks
  -- The latest time of a stored row that was not in the future then; -infinity: there is none; NULL: not computed yet.
  ADD COLUMN data_through timestamptz(3),
  -- The earliest time of a stored row that was in the future then; `data_through` rises to it with the first batch after it. NULL: there is none.
  ADD COLUMN ahead_at timestamptz(3),
  -- `stored_at` of the latest new row; erasures and repairs raise only the watermark. NULL: there is none, or not computed yet.
  ADD COLUMN last_row_at timestamptz(3),
  DROP CONSTRAINT watermarks_resource_check,
  ADD CONSTRAINT watermarks_resource_check CHECK (resource IN ('clicks', 'conversions', 'costs'));
