-- Fills the column of 0002.
-- readable from: 0.1.0
-- writable from: 0.1.0

UPDATE campaigns SET priority = 1 WHERE status = 'active';
