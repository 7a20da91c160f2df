-- Notes of which files ran are written through to disk like the rows and sums that the files make: after a power cut a note
-- that is missing would have its file run once more, on tables that later files have changed.

ALTER TABLE schema_migrations MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
