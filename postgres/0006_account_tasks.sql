-- Work that an account still needs although no batch of it is in import_batches. A task is recorded by the statement that
-- records the batch which makes it necessary, and removed by the writer that completed it, under the same lease. What an
-- interrupted import leaves here is completed by the next writer, or by a running server within a minute.

CREATE TABLE account_tasks (
  account_id text NOT NULL REFERENCES accounts (id),
  task       text NOT NULL,                                      -- 'attribute_late_clicks'
  PRIMARY KEY (account_id, task)
);

-- Imports that were interrupted before this table existed may have left conversions without the click that has arrived.
INSERT INTO account_tasks SELECT id, 'attribute_late_clicks' FROM accounts;
