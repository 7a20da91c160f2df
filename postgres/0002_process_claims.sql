-- The process that writes has one lease, and claims accounts under it: one statement, one heartbeat and one statement deadline
-- serve all of its accounts. The time of storage is set by the statement that records the batches of all accounts together.
--
-- readable from: 1.0.0
-- writable from: 1.2.0

ALTER TABLE leases
  -- Of a claim ('writer:acme', which never expires): the lease of the process that has claimed the account, 'process:<uuid>'.
  ADD COLUMN process text COLLATE "C",
  -- Of a claim: earlier processes whose statements may still run. The next process that claims the account ends them first.
  ADD COLUMN unsettled text[] NOT NULL DEFAULT '{}',
  -- Of a claim: when another writer last waited for the account. A feed, which claims accounts without end, then releases it.
  ADD COLUMN wanted_at timestamptz;

DROP TRIGGER import_batches_stored_at ON import_batches;
DROP FUNCTION set_stored_at();
