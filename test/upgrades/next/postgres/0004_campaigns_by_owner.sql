-- A later version lists the campaigns of an owner.
-- readable from: 0.1.0
-- writable from: 0.1.0

CREATE INDEX campaigns_by_owner ON campaigns (account_id, user_id);
