-- Three ClickHouse users with minimal grants. Run this file once as an administrator of the server, with your own
-- passwords:
--   sed -e 's/OWNER_PASSWORD/…/; s/WRITER_PASSWORD/…/; s/READER_PASSWORD/…/' docs/clickhouse-users.sql | clickhouse-client --multiquery
CREATE DATABASE IF NOT EXISTS tributary;

-- Owner: creates tables. `CLICKHOUSE_URL=http://tributary_owner:…@host:8123/tributary tributary migrate`, before a new version starts.
CREATE USER IF NOT EXISTS tributary_owner IDENTIFIED WITH sha256_password BY 'OWNER_PASSWORD';
GRANT SELECT, INSERT, ALTER, CREATE TABLE, CREATE VIEW, DROP TABLE, DROP VIEW, OPTIMIZE ON tributary.* TO tributary_owner;
GRANT SELECT ON system.mutations TO tributary_owner;
-- Listed one by one: engines such as File, URL and S3 would let it access files and other servers.
GRANT TABLE ENGINE ON ReplacingMergeTree TO tributary_owner;
GRANT TABLE ENGINE ON SummingMergeTree TO tributary_owner;

-- Writer: inserts and deletes rows. CLICKHOUSE_URL of the server and of the commands import, demo and verify.
-- It reads system.processes to kill its own inserts of an interrupted import, and system.mutations and system.parts to see
-- when erased rows are gone from disk.
CREATE USER IF NOT EXISTS tributary_writer IDENTIFIED WITH sha256_password BY 'WRITER_PASSWORD';
GRANT SELECT, INSERT, ALTER DELETE, ALTER UPDATE ON tributary.* TO tributary_writer;
GRANT SELECT ON system.processes TO tributary_writer;
GRANT SELECT ON system.mutations TO tributary_writer;
GRANT SELECT ON system.parts TO tributary_writer;
-- With it `tributary doctor` sees the size of ClickHouse's own logs.
GRANT SHOW TABLES ON system.* TO tributary_writer;
-- With it `tributary verify` and `tributary doctor` compare the files of tables with their checksums.
GRANT CHECK ON tributary.* TO tributary_writer;

-- Reader: CLICKHOUSE_READER_URL of the server. No access to files, URLs or other servers; limited memory per query and of all
-- its queries together, in bytes, here for a ClickHouse with 10 GB: 40 % and 60 % of its memory, so that inserts have the rest.
CREATE USER IF NOT EXISTS tributary_reader IDENTIFIED WITH sha256_password BY 'READER_PASSWORD' SETTINGS readonly = 2 READONLY, max_memory_usage = 4000000000 READONLY, max_memory_usage_for_user = 6000000000 READONLY;
GRANT SELECT ON tributary.* TO tributary_reader;
