-- A later version shows campaigns in the order of a priority. Adds the column; the next file fills it, since this one locks the table.
-- readable from: 0.1.0
-- writable from: 0.1.0

ALTER TABLE campaigns ADD COLUMN priority smallint NOT NULL DEFAULT 0;
