application_id 1414484560
CREATE TABLE clients (
  id INTEGER PRIMARY KEY, uid INTEGER NOT NULL, name TEXT NOT NULL,
  authorization INTEGER NOT NULL, is_reduced INTEGER NOT NULL, decision INTEGER,
  is_decided_reduced INTEGER NOT NULL, has_asked_always INTEGER NOT NULL
) STRICT;
CREATE TABLE cursors (
  client INTEGER PRIMARY KEY REFERENCES clients ON DELETE CASCADE,
  acknowledged_generation INTEGER, acknowledged_sequence INTEGER, owes_all INTEGER NOT NULL,
  owed_generation INTEGER, owed_sequence INTEGER, passed_after_generation INTEGER,
  passed_after_sequence INTEGER, passed_through_generation INTEGER,
  passed_through_sequence INTEGER, may_have_lost INTEGER NOT NULL
) STRICT;
CREATE TABLE services (
  client INTEGER PRIMARY KEY REFERENCES clients ON DELETE CASCADE,
  significant_change INTEGER NOT NULL, visits INTEGER NOT NULL,
  background_session INTEGER NOT NULL, last_event INTEGER NOT NULL
) STRICT;
CREATE TABLE regions (
  client INTEGER NOT NULL REFERENCES clients ON DELETE CASCADE, kind INTEGER NOT NULL,
  number INTEGER NOT NULL, name TEXT NOT NULL, latitude_e9 INTEGER NOT NULL,
  longitude_e9 INTEGER NOT NULL, radius_m REAL NOT NULL, notify_on_entry INTEGER NOT NULL,
  notify_on_exit INTEGER NOT NULL, state INTEGER NOT NULL, PRIMARY KEY (client, kind, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE events (
  client INTEGER NOT NULL REFERENCES clients ON DELETE CASCADE, number INTEGER NOT NULL,
  notice TEXT NOT NULL, PRIMARY KEY (client, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;

ALTER TABLE regions ADD COLUMN handled TEXT;

ALTER TABLE cursors ADD COLUMN significant_generation INTEGER;
ALTER TABLE cursors ADD COLUMN significant_sequence INTEGER;
ALTER TABLE cursors ADD COLUMN visits_generation INTEGER;
ALTER TABLE cursors ADD COLUMN visits_sequence INTEGER;
