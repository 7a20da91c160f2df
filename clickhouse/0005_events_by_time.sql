-- Reports count events of a range. Copies of an event that are not merged yet count once: the projection gets `id_hash`, by which the
-- few ids that occur twice are found without the keys of all events (src/query/facts/events.ts). It replaces `by_time`, which has the same
-- order. Until it is materialized, reads of a range of events read all events of the account.
--
-- readable from: 1.0.0
-- writable from: 1.0.0

ALTER TABLE pixel_events
    ADD PROJECTION IF NOT EXISTS by_occurred_at
    (
        SELECT account_id, occurred_at, origin, id, generation, event_name, click_id, visitor_id, campaign_id, stored_at,
            visitor_hash, click_hash, id_hash
        ORDER BY account_id, occurred_at, origin, id, generation
    );

ALTER TABLE pixel_events MATERIALIZE PROJECTION IF EXISTS by_occurred_at;

ALTER TABLE pixel_events DROP PROJECTION IF EXISTS by_time;
