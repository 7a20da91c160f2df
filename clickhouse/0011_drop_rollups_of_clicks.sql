-- The rollups of clicks alone (0002, 0007): sums over clicks and conversions (0009) have taken their place. In a file of
-- its own, so that they are still there when 0009 is cut short and begins anew.

DROP VIEW IF EXISTS clicks_to_report_daily;
DROP VIEW IF EXISTS clicks_to_report_daily_by_campaign;
DROP VIEW IF EXISTS clicks_to_quarter_hour;
DROP TABLE IF EXISTS report_daily;
DROP TABLE IF EXISTS report_daily_by_campaign;
DROP TABLE IF EXISTS clicks_by_quarter_hour;
