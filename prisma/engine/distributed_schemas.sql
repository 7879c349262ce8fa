-- Citus keeps a whole schema on one of its nodes, in tables with a number after their names, and plans each statement of a
-- trigger as one for any node. There, triggers do not know their table by TG_TABLE_NAME, statements that change rows must not
-- call volatile functions, and the sequences of nodes give numbers that are 2^48 apart.

-- Makes `author` the author of the transaction, where the row is. Not marked as volatile, so that DELETE may call it for a row.
CREATE FUNCTION write_as(author text, id text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN set_config('halgraph.subject', author, TRUE) IS NOT NULL;
END $$;

-- The size of a table in bytes, without its indexes. Citus has the rows in another table.
CREATE FUNCTION table_bytes(resource_table regclass) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RETURN citus_table_size(resource_table);
EXCEPTION WHEN OTHERS THEN
  RETURN pg_table_size(resource_table);
END $$;

CREATE OR REPLACE FUNCTION begin_timeline() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  former record;
  next record;
BEGIN
  SELECT highest_version AS version, 2147483647 - highest_version AS rest, last_position AS position INTO former
    FROM change_feed FOR UPDATE;
  -- FROM a table, so that the server is that of the rows.
  SELECT server_identifier() AS server, server_timeline() AS timeline,
      former.version + LEAST(1048576, former.rest / 1024) + floor(random() * (former.rest / 128))::integer AS version,
      GREATEST(former.position + 1000000000, extract(epoch FROM clock_timestamp() - '2026-01-01 00:00:00+00'::timestamptz) * 1000000)
        + floor(random() * 10000000) AS position
    INTO next FROM change_feed;
  UPDATE change_feed SET server = next.server, timeline = next.timeline, last_position = next.position,
    lowest_version = next.version, highest_version = LEAST(next.version::bigint + 65536, 2147483647);
END $$;

CREATE OR REPLACE FUNCTION keep_changes(for_days integer) RETURNS void LANGUAGE plpgsql
  SET search_path FROM CURRENT AS $$
DECLARE
  begun timestamptz := clock_timestamp();
BEGIN
  PERFORM follow_timeline();
  UPDATE change_feed SET days = for_days,
      last_position = last_position + (days = 0)::int,
      purged_position = CASE WHEN days = 0 THEN last_position + 1 ELSE purged_position END,
      begin_date = CASE WHEN days = 0 THEN begun ELSE begin_date END
    WHERE days <> for_days;
END $$;

-- Where the sequence is behind, a change follows all that have no position yet, such as those of its children.
CREATE OR REPLACE FUNCTION follow_former_change() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  former bigint;
  latest bigint;
BEGIN
  SELECT serial INTO former FROM recorded_changes
    WHERE collection = NEW.collection AND parent_id = NEW.parent_id AND id = NEW.id
    ORDER BY version DESC, serial DESC LIMIT 1;
  IF NEW.ids IS NOT NULL OR NEW.serial <= former THEN
    SELECT serial INTO latest FROM recorded_changes
      WHERE position IS NULL ORDER BY position DESC, serial DESC LIMIT 1;
    NEW.serial := GREATEST(NEW.serial, former + 1, latest + 1);
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION resource_after_insert() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  parent text := '';
  buried integer;
  buried_in_set integer;
  feed record;
BEGIN
  IF TG_NARGS > 1 THEN
    parent := resource_parent_id(to_jsonb(NEW), TG_ARGV[1]);
    SELECT max(version) INTO buried_in_set FROM tombstone_sets
      WHERE collection = TG_ARGV[0] AND parent_id = parent;
  END IF;
  DELETE FROM tombstones WHERE collection = TG_ARGV[0] AND parent_id = parent AND id = NEW.id
    RETURNING version INTO buried;
  IF GREATEST(buried, buried_in_set) >= NEW.version
      AND current_setting('halgraph.unseen', TRUE) IS DISTINCT FROM 'on' THEN
    RAISE EXCEPTION 'it was being deleted while it was created' USING ERRCODE = 'serialization_failure';
  END IF;
  SELECT days, states_of INTO feed FROM change_feed;
  IF feed.days > 0 THEN
    INSERT INTO recorded_changes (collection, parent_id, id, version, event, changed_date, changed_by, resource, before)
      VALUES (TG_ARGV[0], parent, NEW.id, NEW.version, 'created', clock_timestamp(), NEW.changed_by, to_jsonb(NEW),
        CASE WHEN TG_ARGV[0] = ANY(feed.states_of) THEN 'null'::jsonb END);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION resource_after_update() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  parent text := '';
  feed record;
BEGIN
  IF TG_NARGS > 1 THEN
    parent := resource_parent_id(to_jsonb(NEW), TG_ARGV[1]);
  END IF;
  SELECT days, states_of, begin_date INTO feed FROM change_feed;
  IF feed.days > 0 AND feed.begin_date >= OLD.last_updated THEN
    INSERT INTO recorded_changes (collection, parent_id, id, version, position, changed_date, resource)
      VALUES (TG_ARGV[0], parent, OLD.id, OLD.version, 0, OLD.last_updated, to_jsonb(OLD));
  END IF;
  IF feed.days > 0 THEN
    INSERT INTO recorded_changes (collection, parent_id, id, version, event, changed_date, changed_by, resource, before)
      VALUES (TG_ARGV[0], parent, NEW.id, NEW.version, 'changed', clock_timestamp(),
        COALESCE(NEW.changed_by, change_writer()), to_jsonb(NEW),
        CASE WHEN TG_ARGV[0] = ANY(feed.states_of) THEN to_jsonb(OLD) END);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION resource_after_delete() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  parent text := '';
  buried text;
  feed record;
BEGIN
  IF TG_NARGS > 1 THEN
    parent := resource_parent_id(to_jsonb(OLD), TG_ARGV[1]);
  END IF;
  INSERT INTO tombstones (collection, parent_id, id, version) VALUES (TG_ARGV[0], parent, OLD.id, OLD.version)
    ON CONFLICT (collection, parent_id, id)
    DO UPDATE SET version = EXCLUDED.version, deleted_date = EXCLUDED.deleted_date;
  SELECT days, states_of INTO feed FROM change_feed;
  IF feed.days > 0 THEN
    INSERT INTO recorded_changes (collection, parent_id, id, version, event, changed_date, changed_by, resource, before)
      VALUES (TG_ARGV[0], parent, OLD.id, OLD.version, 'deleted', clock_timestamp(), change_writer(), to_jsonb(OLD),
        CASE WHEN TG_ARGV[0] = ANY(feed.states_of) THEN to_jsonb(OLD) END);
  END IF;
  -- Its children are deleted by now, because the triggers of references come before this one by their names.
  buried := current_setting('halgraph.buried', TRUE);
  IF buried <> '' THEN
    PERFORM set_config('halgraph.buried',
      regexp_replace(buried, format('<%s/%s [^>]*>', TG_ARGV[0], replace(OLD.id, '.', '[.]')), ''), TRUE);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION resource_before_delete() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  resource_table regclass := quote_ident(replace(TG_ARGV[0], '-', '_'))::regclass;
  owned record;
  are_many boolean;
  has_states boolean;
  feed record;
  buried text := '';
BEGIN
  FOR owned IN
    SELECT reference.conrelid::regclass AS resource_table, arguments[1] AS collection, arguments[2] AS parent_column
      FROM pg_trigger AS deletion
        JOIN pg_constraint AS reference ON reference.oid = deletion.tgconstraint
        JOIN pg_trigger AS served ON served.tgrelid = reference.conrelid
          AND served.tgfoid = 'resource_before_insert'::regproc AND served.tgnargs > 1
        CROSS JOIN LATERAL string_to_array(encode(served.tgargs, 'escape'), E'\\000') AS arguments
        JOIN pg_attribute ON attrelid = reference.conrelid AND attnum = reference.conkey[1] AND attname = arguments[2]
      WHERE deletion.tgrelid = resource_table AND deletion.tgtype & 8 <> 0 AND reference.confrelid = resource_table
      ORDER BY 2
  LOOP
    EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE %I = $1 OFFSET 1000)', owned.resource_table, owned.parent_column)
      INTO are_many USING OLD.id;
    CONTINUE WHEN NOT are_many;
    EXECUTE format('SELECT FROM %s WHERE id = $1 FOR UPDATE', resource_table) USING OLD.id;
    SELECT days, states_of INTO feed FROM change_feed;
    has_states := owned.collection = ANY(feed.states_of);
    EXECUTE format('WITH removed AS MATERIALIZED (
        SELECT child.id, child.version, CASE WHEN $5 THEN to_jsonb(child.*) END AS before,
            (row_number() OVER () - 1) / CASE WHEN $5 THEN 100 ELSE 1000 END AS part
          FROM (SELECT * FROM %s WHERE %I = $2 FOR UPDATE) AS child
      ), buried AS (
        INSERT INTO tombstone_sets (collection, parent_id, ids, version)
          SELECT $1, $2, array_agg(removed.id), max(removed.version) FROM removed
      )
      INSERT INTO recorded_changes
          (collection, parent_id, id, version, event, changed_date, changed_by, ids, versions, before)
        SELECT $1, $2, '''', max(removed.version), ''deleted'', $3, $4,
            array_agg(removed.id), array_agg(removed.version),
            jsonb_agg(removed.before) FILTER (WHERE removed.before IS NOT NULL)
          FROM removed WHERE $6 > 0 GROUP BY removed.part ORDER BY removed.part', owned.resource_table, owned.parent_column)
      USING owned.collection, OLD.id, clock_timestamp(), change_writer(), has_states, feed.days;
    buried := format('%s%s/%s ', buried, owned.collection, OLD.id);
  END LOOP;
  IF buried <> '' THEN
    PERFORM set_config('halgraph.buried',
      concat(current_setting('halgraph.buried', TRUE), format('<%s/%s %s>', TG_ARGV[0], OLD.id, buried)), TRUE);
  END IF;
  RETURN OLD;
END $$;

CREATE OR REPLACE FUNCTION row_count_after_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM append_row_count(TG_ARGV[1], 1, (to_jsonb(NEW) ->> TG_ARGV[0])::timestamptz);
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION row_count_after_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM append_row_count(TG_ARGV[1], -1, (to_jsonb(OLD) ->> TG_ARGV[0])::timestamptz);
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION row_count_after_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM append_row_count(TG_ARGV[1], -1, (to_jsonb(OLD) ->> TG_ARGV[0])::timestamptz),
    append_row_count(TG_ARGV[1], 1, (to_jsonb(NEW) ->> TG_ARGV[0])::timestamptz);
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION keep_row_count(counted text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  created text := created_column(counted);
BEGIN
  EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON %I FOR EACH ROW EXECUTE FUNCTION row_count_after_insert(%L, %2$L)',
    counted || '_row_count_insert', counted, created);
  EXECUTE format('CREATE TRIGGER %I AFTER UPDATE ON %I FOR EACH ROW WHEN (OLD.%I <> NEW.%3$I)
    EXECUTE FUNCTION row_count_after_update(%3$L, %2$L)', counted || '_row_count_update', counted, created);
  EXECUTE format('CREATE TRIGGER %I AFTER DELETE ON %I FOR EACH ROW EXECUTE FUNCTION row_count_after_delete(%L, %2$L)',
    counted || '_row_count_delete', counted, created);
  PERFORM recount_rows(counted);
END $$;

DO $$
DECLARE
  counting record;
BEGIN
  FOR counting IN
    SELECT tgname AS name, relname AS resource_table,
        regexp_replace(pg_get_triggerdef(pg_trigger.oid), '\)$', format(', %L)', relname)) AS definition
      FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
      WHERE tgfoid IN ('row_count_after_insert'::regproc, 'row_count_after_update'::regproc, 'row_count_after_delete'::regproc)
      ORDER BY relname, tgname
  LOOP
    EXECUTE format('DROP TRIGGER %I ON %I', counting.name, counting.resource_table);
    EXECUTE counting.definition;
  END LOOP;
END $$;
