-- Walks by the moment of storing (`updated_since`): rows of one import lie together in the parts it made and mostly
-- stay so, since what arrives late is little. The smallest and largest moment of each granule let the others be skipped.

ALTER TABLE clicks
    ADD INDEX IF NOT EXISTS stored_at_index stored_at TYPE minmax GRANULARITY 8;

ALTER TABLE conversions
    ADD INDEX IF NOT EXISTS stored_at_index stored_at TYPE minmax GRANULARITY 8;
