-- An answer to a coding agent has two moments: it is accepted, and later its outcome is known.
-- accepted: the answer that was taken, as JSON; receipt: pending, delivered, overruled or lost.
-- answered_as: the name that the caller gave, beside the authenticated one in answered_by.

ALTER TABLE human_interactions ADD COLUMN accepted TEXT;
ALTER TABLE human_interactions ADD COLUMN receipt TEXT;
ALTER TABLE human_interactions ADD COLUMN answered_as TEXT;
UPDATE human_interactions SET receipt = 'delivered'
WHERE status IN ('completed', 'approved', 'rejected') AND coalesce(via, '') <> 'terminal';

-- Requests whose dialog is gone and whose outcome the client has not confirmed, as JSON.

ALTER TABLE plates ADD COLUMN unsettled TEXT NOT NULL DEFAULT '[]';

-- Whether there are any, so that a server finds their plates, closed ones too, without a search.

ALTER TABLE plates ADD COLUMN awaits_outcome INTEGER NOT NULL DEFAULT 0;
CREATE INDEX plates_awaiting_outcome ON plates (awaits_outcome);
