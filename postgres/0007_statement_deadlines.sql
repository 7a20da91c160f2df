-- A writer records, before it sends a statement to ClickHouse, until when that statement may begin; ClickHouse refuses
-- one that arrives later. The next holder of the lease waits for that moment, then ends what is running: nothing of an
-- earlier writer reaches ClickHouse once the next one has looked.

ALTER TABLE leases ADD COLUMN statement_deadline timestamptz(3);    -- by ClickHouse's clock; null: no statement is left

COMMENT ON COLUMN import_batches.token IS 'names the batch; its insert has a query id of its own per attempt';
