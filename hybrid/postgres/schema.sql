-- The tables of a remote of sessions, for package postgres. Whoever may make a schema runs
-- this file once; it changes nothing where all is there. Where the schema is to have
-- another name than sessionstorage, replace the word everywhere.
--
-- A device that sends and fetches needs the first three rights, and one that only fetches
-- the first two:
--
--   GRANT USAGE ON SCHEMA sessionstorage TO device;
--   GRANT SELECT ON sessionstorage.objects TO device;
--   GRANT INSERT, UPDATE, DELETE ON sessionstorage.objects TO device;
--
-- Where several users share the table and each has a role of their own, row security
-- keeps their sessions apart. The role that runs the file reads all of them:
--
--   ALTER TABLE sessionstorage.objects ENABLE ROW LEVEL SECURITY;
--   CREATE POLICY own ON sessionstorage.objects USING (owner = current_user);

SELECT pg_advisory_xact_lock(7163384699739271207);

CREATE SCHEMA IF NOT EXISTS sessionstorage;

CREATE TABLE IF NOT EXISTS sessionstorage.objects (
	part    text COLLATE "C" NOT NULL,
	name    text COLLATE "C" NOT NULL,
	label   bytea NOT NULL,
	body    bytea NOT NULL,
	version text NOT NULL,                             -- random, another one each time the object is stored
	tx      xid8 NOT NULL,                             -- the transaction that stored the object
	begun   timestamptz NOT NULL,                      -- when that began
	stored  timestamptz NOT NULL,                      -- when it stored the object
	owner   name NOT NULL DEFAULT current_user,        -- for row security
	PRIMARY KEY (part, name)
);

ALTER TABLE sessionstorage.objects ALTER COLUMN body SET STORAGE EXTERNAL; -- it is compressed

CREATE INDEX IF NOT EXISTS objects_stored ON sessionstorage.objects (part, stored);

CREATE INDEX IF NOT EXISTS objects_tx ON sessionstorage.objects (tx);
