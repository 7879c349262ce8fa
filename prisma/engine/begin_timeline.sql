-- A server on a new timeline may lack the last changes: a standby that was promoted, or a restore to an earlier time. But
-- clients have seen their positions and versions, so these are not given again.

-- Positions of a timeline begin above a multiple of 10,000,000,000, so that each position shows its timeline: one that
-- is above all that this timeline knows of its own is lost. Versions begin above all that were given: each is at most the
-- highest version, which is raised in large steps, so that few writes change this row.
ALTER TABLE "change_feed"
  ADD COLUMN "server" TEXT COLLATE "C",
  ADD COLUMN "timeline" TEXT COLLATE "C",
  ADD COLUMN "lowest_version" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "highest_version" INTEGER NOT NULL DEFAULT 0;

-- Null on a server that does not tell, as some engines with other storage.
CREATE FUNCTION server_timeline() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8);
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END $$;

CREATE FUNCTION server_identifier() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT system_identifier FROM pg_control_system())::text;
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END $$;

-- For at most 10,000,000,000 lost positions, and 1,048,576 lost versions of a resource.
CREATE FUNCTION begin_timeline() RETURNS void LANGUAGE sql AS $$
  UPDATE change_feed SET server = server_identifier(), timeline = server_timeline(),
    last_position = (last_position / 10000000000 + 1) * 10000000000,
    lowest_version = LEAST(highest_version::bigint + 1048576, 2000000000),
    highest_version = LEAST(highest_version::bigint + 1048576 + 65536, 2147483647)
$$;

CREATE FUNCTION is_new_timeline() RETURNS boolean LANGUAGE sql AS $$
  SELECT timeline <> server_timeline() OR server <> server_identifier() FROM change_feed
$$;

CREATE FUNCTION follow_timeline() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF is_new_timeline() THEN
    PERFORM FROM change_feed FOR UPDATE;
    -- Another transaction may have been faster.
    IF is_new_timeline() THEN
      PERFORM begin_timeline();
    END IF;
  END IF;
END $$;

-- The version after a former one, or after 0. To find the identifier of the server in each write would take too long.
CREATE FUNCTION next_version(former integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  feed record;
  given integer;
BEGIN
  SELECT timeline, lowest_version, highest_version INTO feed FROM change_feed;
  IF feed.timeline <> server_timeline() THEN
    PERFORM follow_timeline();
    SELECT timeline, lowest_version, highest_version INTO feed FROM change_feed;
  END IF;
  given := GREATEST(former + 1, feed.lowest_version);
  IF given > feed.highest_version THEN
    UPDATE change_feed SET highest_version = LEAST(given::bigint + 65536, 2147483647) WHERE highest_version < given;
  END IF;
  RETURN given;
END $$;

CREATE OR REPLACE FUNCTION resource_before_insert() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  buried integer;
  buried_in_set integer;
  parent text := '';
BEGIN
  IF TG_NARGS > 1 THEN
    parent := resource_parent_id(to_jsonb(NEW), TG_ARGV[1]);
    SELECT max(version) INTO buried_in_set FROM tombstone_sets
      WHERE collection = TG_ARGV[0] AND parent_id = parent;
  END IF;
  SELECT version INTO buried FROM tombstones
    WHERE collection = TG_ARGV[0] AND parent_id = parent AND id = NEW.id;
  NEW.version := next_version(GREATEST(buried, buried_in_set, 0));
  RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION resource_before_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.id <> OLD.id OR (TG_NARGS > 1 AND resource_parent_id(to_jsonb(NEW), TG_ARGV[1])
      <> resource_parent_id(to_jsonb(OLD), TG_ARGV[1])) THEN
    RAISE EXCEPTION 'an identifier is immutable' USING ERRCODE = 'restrict_violation';
  END IF;
  NEW.version := OLD.version;
  NEW.last_updated := OLD.last_updated;
  IF NEW IS DISTINCT FROM OLD THEN
    NEW.version := next_version(OLD.version);
    NEW.last_updated := GREATEST(clock_timestamp(), OLD.last_updated);
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION number_changes(most integer) RETURNS integer LANGUAGE plpgsql
  SET search_path FROM CURRENT AS $$
DECLARE
  last bigint;
  numbered integer;
BEGIN
  PERFORM FROM recorded_changes WHERE position IS NULL LIMIT 1;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  PERFORM follow_timeline();
  SELECT last_position INTO last FROM change_feed FOR UPDATE;
  WITH oldest AS (
    SELECT ctid, serial, ids FROM recorded_changes WHERE position IS NULL ORDER BY position, serial LIMIT most
  ), numbers AS (
    SELECT ctid, last + sum(COALESCE(cardinality(ids), 1)) OVER (ORDER BY serial) AS number FROM oldest
  ), given AS (
    UPDATE recorded_changes AS change SET position = number FROM numbers WHERE change.ctid = numbers.ctid
      RETURNING position
  )
  SELECT count(*), COALESCE(max(position), last) INTO numbered, last FROM given;
  UPDATE change_feed SET last_position = last;
  RETURN numbered;
END $$;

-- Each process calls this when it starts.
CREATE OR REPLACE FUNCTION keep_changes(for_days integer) RETURNS void LANGUAGE plpgsql
  SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM follow_timeline();
  UPDATE change_feed SET days = for_days,
      last_position = last_position + (days = 0)::int,
      purged_position = CASE WHEN days = 0 THEN last_position + 1 ELSE purged_position END,
      begin_date = CASE WHEN days = 0 THEN clock_timestamp() ELSE begin_date END
    WHERE days <> for_days;
END $$;

-- The highest version that was given.
DO $$
DECLARE
  served record;
  version integer;
  highest integer := 0;
BEGIN
  FOR served IN SELECT tgrelid::regclass AS resource_table FROM pg_trigger WHERE tgfoid = 'resource_before_insert'::regproc
  LOOP
    EXECUTE format('SELECT max(version) FROM %s', served.resource_table) INTO version;
    highest := GREATEST(highest, version);
  END LOOP;
  SELECT GREATEST(highest, max(buried)) INTO highest FROM (
    SELECT max(tombstones.version) AS buried FROM tombstones
    UNION ALL SELECT max(tombstone_sets.version) FROM tombstone_sets) AS versions;
  UPDATE change_feed SET server = server_identifier(), timeline = server_timeline(),
    highest_version = LEAST(highest::bigint + 65536, 2147483647);
END $$;
