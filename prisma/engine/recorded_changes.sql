-- A record of each change of a resource, by any author, in the transaction of the change.

-- The row of a change gets its position in the feed after its transaction has committed: see number_changes. So no
-- position appears below another one that was already read. Position 0 is not part of the feed: it marks a state
-- from before the record, which is kept when its resource first changes; that has neither event nor writer.
--
-- The resource is stored as it is after the change, or as it was before a deletion. A large deletion of children
-- (see resource_after_delete) has one row for up to 1,000 of them, which takes as many positions, up to its own.
CREATE TABLE "recorded_changes" (
    "collection" TEXT COLLATE "C" NOT NULL,
    "parent_id" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "version" INTEGER NOT NULL,
    "serial" BIGINT GENERATED ALWAYS AS IDENTITY,
    "position" BIGINT,
    "event" TEXT COLLATE "C",
    "changed_date" TIMESTAMPTZ(3) NOT NULL,
    "changed_by" TEXT COLLATE "C",
    "resource" JSONB,
    "ids" TEXT[] COLLATE "C",
    "versions" INTEGER[],

    CONSTRAINT "recorded_changes_pkey" PRIMARY KEY ("collection", "parent_id", "id", "version", "serial")
);

-- For the feed, and for the rows that have no position yet.
CREATE INDEX "recorded_changes_position_serial_idx" ON "recorded_changes"("position", "serial");

-- The only row has the days for which changes are kept (0: they are not recorded), the last position that was given, the
-- last one that was purged, and since when each change is in the record.
CREATE TABLE "change_feed" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "days" INTEGER NOT NULL DEFAULT 30,
    "last_position" BIGINT NOT NULL DEFAULT 0,
    "purged_position" BIGINT NOT NULL DEFAULT 0,
    "begin_date" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "change_feed_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "change_feed_id_check" CHECK ("id" = 1)
) WITH (fillfactor = 20);

INSERT INTO "change_feed" DEFAULT VALUES;

-- Who makes a change: the subject that the service sets for the transaction, otherwise the role.
CREATE FUNCTION change_writer() RETURNS text LANGUAGE sql STABLE AS
  $$ SELECT COALESCE(NULLIF(current_setting('halgraph.subject', TRUE), ''), current_user) $$;

CREATE OR REPLACE FUNCTION resource_after_insert() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  parent text := '';
  buried integer;
  buried_in_set integer;
BEGIN
  IF TG_NARGS > 1 THEN
    parent := resource_parent_id(to_jsonb(NEW), TG_ARGV[1]);
    SELECT max(version) INTO buried_in_set FROM tombstone_sets
      WHERE collection = TG_ARGV[0] AND parent_id = parent;
  END IF;
  DELETE FROM tombstones WHERE collection = TG_ARGV[0] AND parent_id = parent AND id = NEW.id
    RETURNING version INTO buried;
  IF GREATEST(buried, buried_in_set) >= NEW.version THEN
    RAISE EXCEPTION 'it was being deleted while it was created' USING ERRCODE = 'serialization_failure';
  END IF;
  INSERT INTO recorded_changes (collection, parent_id, id, version, event, changed_date, changed_by, resource)
    SELECT TG_ARGV[0], parent, NEW.id, NEW.version, 'created', clock_timestamp(), change_writer(), to_jsonb(NEW)
      FROM change_feed WHERE days > 0;
  RETURN NULL;
END $$;

-- The state before the change is kept too, unless it is in the record already.
CREATE FUNCTION resource_after_update() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  parent text := '';
BEGIN
  IF TG_NARGS > 1 THEN
    parent := resource_parent_id(to_jsonb(NEW), TG_ARGV[1]);
  END IF;
  INSERT INTO recorded_changes (collection, parent_id, id, version, position, event, changed_date, changed_by, resource)
    SELECT TG_ARGV[0], parent, OLD.id, OLD.version, 0, NULL, OLD.last_updated, NULL, to_jsonb(OLD)
      FROM change_feed WHERE days > 0 AND begin_date >= OLD.last_updated
    UNION ALL
    SELECT TG_ARGV[0], parent, NEW.id, NEW.version, NULL, 'changed', clock_timestamp(), change_writer(), to_jsonb(NEW)
      FROM change_feed WHERE days > 0;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION resource_after_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_NARGS > 1 AND EXISTS (SELECT FROM removed OFFSET 1000) THEN
    EXECUTE format('INSERT INTO tombstone_sets (collection, parent_id, ids, version)
      SELECT %L, %I, array_agg(id), max(version) FROM removed GROUP BY %I', TG_ARGV[0], TG_ARGV[1], TG_ARGV[1]);
    EXECUTE format('INSERT INTO recorded_changes
        (collection, parent_id, id, version, event, changed_date, changed_by, ids, versions)
      SELECT %L, parent_id, '''', max(version), ''deleted'', clock_timestamp(), change_writer(),
        array_agg(id), array_agg(version)
      FROM (
        SELECT %I AS parent_id, removed.id, version, (row_number() OVER (PARTITION BY %I) - 1) / 1000 AS part
          FROM change_feed CROSS JOIN removed WHERE days > 0
      ) AS children GROUP BY parent_id, part', TG_ARGV[0], TG_ARGV[1], TG_ARGV[1]);
    RETURN NULL;
  END IF;
  INSERT INTO tombstones (collection, parent_id, id, version)
    SELECT TG_ARGV[0], CASE WHEN TG_NARGS > 1 THEN resource_parent_id(to_jsonb(removed), TG_ARGV[1]) ELSE '' END,
      id, version FROM removed
    ON CONFLICT (collection, parent_id, id)
    DO UPDATE SET version = EXCLUDED.version, deleted_date = EXCLUDED.deleted_date;
  INSERT INTO recorded_changes (collection, parent_id, id, version, event, changed_date, changed_by, resource)
    SELECT TG_ARGV[0], CASE WHEN TG_NARGS > 1 THEN resource_parent_id(to_jsonb(removed), TG_ARGV[1]) ELSE '' END,
      removed.id, version, 'deleted', clock_timestamp(), change_writer(), to_jsonb(removed)
      FROM change_feed CROSS JOIN removed WHERE days > 0;
  RETURN NULL;
END $$;

-- Creates the trigger that records updates, for serve_resource and for the tables that are served already.
CREATE FUNCTION record_updates(resource_table text, parent_column text DEFAULT NULL) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  collection text := replace(resource_table, '_', '-');
  identity text := quote_literal(collection) || COALESCE(', ' || quote_literal(parent_column), '');
BEGIN
  EXECUTE format('CREATE TRIGGER %I AFTER UPDATE ON %I FOR EACH ROW WHEN (NEW.version <> OLD.version)
    EXECUTE FUNCTION resource_after_update(%s)', resource_table || '_after_update', resource_table, identity);
END $$;

CREATE OR REPLACE FUNCTION serve_resource(resource_table text, parent_column text DEFAULT NULL) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  collection text := replace(resource_table, '_', '-');
  identity text := quote_literal(collection) || COALESCE(', ' || quote_literal(parent_column), '');
BEGIN
  EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK (id ~ ''^[A-Za-z0-9._~-]{1,64}$'' AND id NOT IN (''.'', ''..''))',
    resource_table, resource_table || '_id_check');
  EXECUTE format('CREATE TRIGGER %I BEFORE INSERT ON %I FOR EACH ROW EXECUTE FUNCTION resource_before_insert(%s)',
    resource_table || '_before_insert', resource_table, identity);
  EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON %I FOR EACH ROW
    EXECUTE FUNCTION resource_after_insert(%s)',
    resource_table || '_after_insert', resource_table, identity);
  EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE ON %I FOR EACH ROW EXECUTE FUNCTION resource_before_update(%s)',
    resource_table || '_before_update', resource_table, identity);
  PERFORM record_updates(resource_table, parent_column);
  PERFORM bury_deleted(resource_table, parent_column);
END $$;

-- Gives positions to the oldest changes that have none, in the order in which they were made. Returns how many rows
-- got one; if it is the given number, there may be more.
--
-- A version of a resource is written only after the transaction of the version before it has committed. So a snapshot that
-- has a version has all earlier ones, and they come first. The lock on the feed is taken before the snapshot of the rows.
CREATE FUNCTION number_changes(most integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  last bigint;
  numbered integer;
BEGIN
  PERFORM FROM recorded_changes WHERE position IS NULL LIMIT 1;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
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

-- Deletes the changes before a time, at most this many. Returns how many; if it is the given number, there may be more.
CREATE FUNCTION purge_changes(before timestamptz, most integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  boundary record;
  purged integer;
BEGIN
  PERFORM FROM change_feed FOR UPDATE;
  SELECT max(position) AS position, max(serial) AS serial, count(*) AS rows INTO boundary
    FROM (
      SELECT position, serial, bool_and(changed_date < before) OVER (ORDER BY position) AS is_old
        FROM (
          SELECT position, serial, changed_date FROM recorded_changes WHERE position > 0 ORDER BY position LIMIT most
        ) AS oldest
    ) AS aged WHERE is_old;
  DELETE FROM recorded_changes WHERE position BETWEEN 1 AND boundary.position;
  DELETE FROM recorded_changes WHERE position = 0 AND serial < boundary.serial;
  UPDATE change_feed SET purged_position = boundary.position, begin_date = GREATEST(begin_date, before)
    WHERE purged_position < boundary.position;
  RETURN boundary.rows;
END $$;

-- Keeps changes for this many days from now on. Where none were recorded before, the positions that readers have are
-- of no use any more, so the feed goes on beyond them.
CREATE FUNCTION keep_changes(for_days integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE change_feed SET days = for_days,
      last_position = last_position + (days = 0)::int,
      purged_position = CASE WHEN days = 0 THEN last_position + 1 ELSE purged_position END,
      begin_date = CASE WHEN days = 0 THEN clock_timestamp() ELSE begin_date END
    WHERE days <> for_days;
END $$;

-- The tables that are served already. Their history begins here.
DO $$
DECLARE
  served record;
BEGIN
  FOR served IN
    SELECT relname, string_to_array(encode(tgargs, 'escape'), '\000') AS arguments
      FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
      WHERE tgfoid = 'resource_before_insert'::regproc ORDER BY relname
  LOOP
    PERFORM record_updates(served.relname, NULLIF(served.arguments[2], ''));
  END LOOP;
END $$;
