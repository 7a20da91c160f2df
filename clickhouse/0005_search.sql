-- Search in conversions: all that /conversions/search looks into, in one lower-cased column, with an index of its
-- trigrams. On a million conversions a text that is nowhere costs 10 ms of CPU instead of 340, an id 15; texts of two
-- characters can't use it. Names of campaigns and offers are in Postgres. Price: text and index are three quarters of
-- the table. The fields are apart by NUL, which no query holds, so that no text is found across two of them.

ALTER TABLE conversions
    ADD COLUMN IF NOT EXISTS search_text String
    MATERIALIZED replaceAll(lowerUTF8(concatWithSeparator('\0',
        id, click_id, transaction_id, external_status, campaign_id, offer_id, country, coupon_code, visitor_id,
        click_external_id, click_referrer, sub1, sub2, sub3, sub4, sub5, sub6, sub7, sub8, sub9, sub10)), 'ς', 'σ')
    COMMENT 'without case; a final sigma is a sigma' CODEC(ZSTD);

ALTER TABLE conversions
    ADD INDEX IF NOT EXISTS search_text_index search_text TYPE text(tokenizer = ngrams(3));
