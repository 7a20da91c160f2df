-- Additional grants of the users of clickhouse-users.sql on a cluster (docs/scaling.md). Run both files on every node, with
-- the same passwords.
CREATE DATABASE IF NOT EXISTS tributary_local;

-- REMOTE is required to create Distributed tables.
GRANT SELECT, INSERT, ALTER, CREATE TABLE, CREATE VIEW, DROP TABLE, DROP VIEW, OPTIMIZE ON tributary_local.* TO tributary_owner;
GRANT REMOTE ON *.* TO tributary_owner;
GRANT TABLE ENGINE ON Distributed TO tributary_owner;
GRANT TABLE ENGINE ON ReplicatedReplacingMergeTree TO tributary_owner;
GRANT TABLE ENGINE ON ReplicatedSummingMergeTree TO tributary_owner;
GRANT SELECT ON system.clusters TO tributary_owner;
GRANT SELECT ON system.macros TO tributary_owner;
-- Owner and writer see which replica has every row.
GRANT SELECT ON system.replicas TO tributary_owner;
GRANT SELECT ON system.processes TO tributary_owner;

GRANT SELECT, INSERT, ALTER DELETE, ALTER UPDATE, CHECK ON tributary_local.* TO tributary_writer;
GRANT SELECT ON system.clusters TO tributary_writer;
GRANT SELECT ON system.macros TO tributary_writer;
-- On replicas it waits until both have all rows, and wakes the thread that removes the files of erased rows.
GRANT SYSTEM SYNC REPLICA, SYSTEM CLEANUP ON tributary_local.* TO tributary_writer;
GRANT SELECT ON system.replicas TO tributary_writer;

GRANT SELECT ON tributary_local.* TO tributary_reader;
