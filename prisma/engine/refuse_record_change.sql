-- What tools of operators do: remove parts of the record by hand, and switch to a server without the state of sequences.

-- A reader before changes that are removed otherwise would miss them without knowing.
CREATE FUNCTION refuse_record_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% of % would hide changes from the readers of the feed', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'restrict_violation', HINT = 'Use SELECT purge_changes(now(), 1000).';
END $$;

CREATE TRIGGER "recorded_changes_kept" BEFORE DELETE ON "recorded_changes" FOR EACH STATEMENT
  WHEN (current_setting('halgraph.purging', TRUE) IS DISTINCT FROM 'on') EXECUTE FUNCTION refuse_record_change();
CREATE TRIGGER "recorded_changes_truncate" BEFORE TRUNCATE ON "recorded_changes" FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_record_change();

CREATE OR REPLACE FUNCTION purge_changes(before timestamptz, most integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  boundary record;
  emptied bigint;
BEGIN
  SELECT emptied_position INTO emptied FROM change_feed FOR UPDATE;
  SELECT max(position) AS position, max(serial) AS serial, count(*) AS rows INTO boundary
    FROM (
      SELECT position, serial, bool_and(changed_date < before) OVER (ORDER BY position) AS is_old
        FROM (
          SELECT position, serial, changed_date FROM recorded_changes
            WHERE position > emptied ORDER BY position LIMIT most
        ) AS oldest
    ) AS aged WHERE is_old;
  PERFORM set_config('halgraph.purging', 'on', TRUE);
  DELETE FROM recorded_changes WHERE position > emptied AND position <= boundary.position;
  DELETE FROM recorded_changes WHERE position = 0 AND serial < boundary.serial;
  PERFORM set_config('halgraph.purging', '', TRUE);
  UPDATE change_feed SET emptied_position = boundary.position,
      purged_position = GREATEST(purged_position, boundary.position),
      begin_date = CASE WHEN purged_position < boundary.position THEN GREATEST(begin_date, before) ELSE begin_date END
    WHERE boundary.position IS NOT NULL;
  RETURN boundary.rows;
END $$;

-- A sequence that is far behind, as logical replication leaves it, is moved in one step. Sessions that do so at once may get
-- one number for changes of two resources.
CREATE OR REPLACE FUNCTION follow_former_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  former bigint;
  numbers text;
BEGIN
  IF NEW.ids IS NULL THEN
    SELECT serial INTO former FROM recorded_changes
      WHERE collection = NEW.collection AND parent_id = NEW.parent_id AND id = NEW.id
      ORDER BY version DESC, serial DESC LIMIT 1;
  ELSE
    SELECT serial INTO former FROM recorded_changes
      WHERE position IS NULL ORDER BY position DESC, serial DESC LIMIT 1;
  END IF;
  IF NEW.serial <= former THEN
    numbers := pg_get_serial_sequence(format('%I.%I', TG_TABLE_SCHEMA, TG_TABLE_NAME), 'serial');
    NEW.serial := nextval(numbers);
    IF NEW.serial <= former THEN
      NEW.serial := setval(numbers, former + 1);
    END IF;
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION number_changes(most integer) RETURNS integer LANGUAGE plpgsql
  SET search_path FROM CURRENT AS $$
DECLARE
  feed record;
  numbered record;
BEGIN
  PERFORM FROM recorded_changes WHERE position IS NULL LIMIT 1;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  PERFORM follow_timeline();
  SELECT last_position, states_of INTO feed FROM change_feed FOR UPDATE;
  -- Also of changes with one serial, each has a position of its own.
  WITH oldest AS (
    SELECT collection, parent_id, id, version, serial, ids
      FROM recorded_changes WHERE position IS NULL ORDER BY position, serial LIMIT most
  ), numbers AS (
    SELECT oldest.*, feed.last_position + sum(COALESCE(cardinality(ids), 1)) OVER (ORDER BY serial, collection, parent_id, id, version) AS number FROM oldest
  ), given AS (
    UPDATE recorded_changes AS change SET position = number FROM numbers
      WHERE (change.collection, change.parent_id, change.id, change.version, change.serial)
        = (numbers.collection, numbers.parent_id, numbers.id, numbers.version, numbers.serial)
      RETURNING change.position, change.before IS NULL AND change.collection = ANY(feed.states_of) AS lacks_state
  )
  SELECT count(*) AS count, max(position) AS last, max(position) FILTER (WHERE lacks_state) AS lacking INTO numbered FROM given;
  UPDATE change_feed SET last_position = COALESCE(numbered.last, last_position),
    states_position = GREATEST(states_position, numbered.lacking);
  RETURN numbered.count;
END $$;

-- The extension of search indexes belongs to the database: dropping the schema that was migrated first must not drop it.
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm' AND extnamespace::regnamespace::text = quote_ident(current_schema())
      AND current_schema() <> 'public') THEN
    ALTER EXTENSION pg_trgm SET SCHEMA public;
  END IF;
EXCEPTION WHEN insufficient_privilege OR invalid_schema_name OR feature_not_supported THEN
  RAISE WARNING 'The search indexes of this database depend on the schema %. %', current_schema(), SQLERRM;
END $$;
