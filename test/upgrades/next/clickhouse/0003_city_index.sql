-- A later version finds the clicks of a city.
-- readable from: 0.1.0
-- writable from: 0.1.0

ALTER TABLE clicks ADD INDEX IF NOT EXISTS city_index city TYPE bloom_filter(0.01) GRANULARITY 4;

ALTER TABLE clicks MATERIALIZE INDEX IF EXISTS city_index;
