-- Three users of ClickHouse, each with what it needs and no more. Run it once, as an administrator of the server, with
-- passwords of your own:
--   sed -e 's/OWNER_PASSWORD/…/; s/WRITER_PASSWORD/…/; s/READER_PASSWORD/…/' docs/clickhouse-users.sql | clickhouse-client --multiquery
CREATE DATABASE IF NOT EXISTS tributary;

-- Defines tables: `CLICKHOUSE_URL=http://tributary_owner:…@host:8123/tributary tributary migrate`, before a new version starts.
CREATE USER IF NOT EXISTS tributary_owner IDENTIFIED WITH sha256_password BY 'OWNER_PASSWORD';
GRANT SELECT, INSERT, ALTER, CREATE TABLE, CREATE VIEW, DROP TABLE, DROP VIEW, OPTIMIZE ON tributary.* TO tributary_owner;
-- One by one: engines such as File, URL and S3 would let it read and write files and ask other servers.
GRANT TABLE ENGINE ON ReplacingMergeTree TO tributary_owner;
GRANT TABLE ENGINE ON SummingMergeTree TO tributary_owner;

-- Writes rows and takes wrong ones away: CLICKHOUSE_URL of the server, of imports, demo and verify.
-- It ends inserts of an import that was cut short: its own, for which it looks at what runs.
CREATE USER IF NOT EXISTS tributary_writer IDENTIFIED WITH sha256_password BY 'WRITER_PASSWORD';
GRANT SELECT, INSERT, ALTER DELETE, ALTER UPDATE ON tributary.* TO tributary_writer;
GRANT SELECT ON system.processes TO tributary_writer;

-- Reads, whatever a query is made to say: CLICKHOUSE_READER_URL of the server. No files, no URLs, no other servers, and no
-- more memory a query (in bytes).
CREATE USER IF NOT EXISTS tributary_reader IDENTIFIED WITH sha256_password BY 'READER_PASSWORD' SETTINGS readonly = 2 READONLY, max_memory_usage = 4000000000 READONLY;
GRANT SELECT ON tributary.* TO tributary_reader;
