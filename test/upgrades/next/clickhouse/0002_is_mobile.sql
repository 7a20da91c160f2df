-- A later version groups by phones. Parts without the column compute it from `device`, until a merge or the mutation fills it.
-- readable from: 0.1.0
-- writable from: 0.1.0

ALTER TABLE converted_click_rows ADD COLUMN IF NOT EXISTS is_mobile Bool DEFAULT device = 'mobile';

ALTER TABLE clicks ADD COLUMN IF NOT EXISTS is_mobile Bool DEFAULT device = 'mobile';

ALTER TABLE conversions ADD COLUMN IF NOT EXISTS is_mobile Bool MATERIALIZED device = 'mobile';

ALTER TABLE clicks MATERIALIZE COLUMN is_mobile;

ALTER TABLE conversions MATERIALIZE COLUMN is_mobile;
