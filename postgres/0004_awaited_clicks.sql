-- An import lists a click of an erased visitor before it stores the click. If it is killed in between, another row may get the id of the
-- click: the list then must not have it.
--
-- readable from: 1.0.0
-- writable from: 1.2.0

-- Whether the click may not be stored: it is listed only if it is.
ALTER TABLE erasures ADD COLUMN awaits_click boolean NOT NULL DEFAULT false;
