-- Messages that people wrote to coding agents. A row's columns are those of
-- `callboard.board.messages.PlateMessage`; of those that wait, the one with the lowest place is next.

CREATE TABLE plate_messages (
    id           text COLLATE "C" NOT NULL PRIMARY KEY,
    plate        text COLLATE "C" NOT NULL,
    text         text COLLATE "C" NOT NULL,
    timing       text COLLATE "C" NOT NULL,
    status       text COLLATE "C" NOT NULL DEFAULT 'queued',
    place        bigint NOT NULL,
    created_at   bigint NOT NULL,
    written_by   text COLLATE "C",
    via          text COLLATE "C",
    way          text COLLATE "C",
    authority    bigint,
    session      text COLLATE "C",
    note         text COLLATE "C",
    attempt      bigint NOT NULL DEFAULT 0,
    handed_at    bigint,
    delivered_at bigint,
    seen_at      bigint,
    closed_at    bigint
);

CREATE INDEX plate_messages_by_plate ON plate_messages (plate, place);
CREATE INDEX plate_messages_open ON plate_messages (plate) WHERE closed_at IS NULL;
