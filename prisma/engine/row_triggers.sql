-- Without transition tables, table locks and ctid, which distributed engines with PostgreSQL's protocol lack: deletions and
-- row counts have row triggers. Their sequences give each session numbers in blocks, so the record keeps its order itself.

-- The number of rows of a collection is the sum of its differences. A writer appends one, so writers do not wait for one
-- another. Every 32nd replaces those that it sees, and that no other transaction replaces, by their sum. A transaction
-- that sees one snapshot throughout does not, because a row that was deleted since would be an error.
ALTER TABLE "row_counts" RESET (fillfactor);

CREATE FUNCTION append_row_count(counted text, difference bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  number bigint;
BEGIN
  INSERT INTO row_counts (collection, rows) VALUES (counted, difference) RETURNING slot INTO number;
  IF number % 32 = 0 AND current_setting('transaction_isolation') = 'read committed' THEN
    WITH folded AS (
      DELETE FROM row_counts WHERE (collection, slot) IN (
        SELECT collection, slot FROM row_counts ORDER BY collection, slot LIMIT 1000 FOR UPDATE SKIP LOCKED
      ) RETURNING collection, rows
    )
    INSERT INTO row_counts (collection, rows)
      SELECT collection, sum(rows) FROM folded GROUP BY collection HAVING sum(rows) <> 0;
  END IF;
END $$;

CREATE OR REPLACE FUNCTION row_count_after_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM append_row_count(TG_TABLE_NAME, 1);
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION row_count_after_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM append_row_count(TG_TABLE_NAME, -1);
  RETURN NULL;
END $$;

-- Appends what is missing. Both counts are of one snapshot, which has each row with its difference.
CREATE OR REPLACE FUNCTION recount_rows(counted text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('INSERT INTO row_counts (collection, rows) SELECT %1$L, actual.rows - stored.rows
    FROM (SELECT count(*) AS rows FROM %1$I) AS actual,
      (SELECT COALESCE(sum(rows), 0) AS rows FROM row_counts WHERE collection = %1$L) AS stored
    WHERE actual.rows <> stored.rows', counted);
END $$;

CREATE OR REPLACE FUNCTION keep_row_count(counted text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON %I FOR EACH ROW EXECUTE FUNCTION row_count_after_insert()',
    counted || '_row_count_insert', counted);
  EXECUTE format('CREATE TRIGGER %I AFTER DELETE ON %I FOR EACH ROW EXECUTE FUNCTION row_count_after_delete()',
    counted || '_row_count_delete', counted);
  PERFORM recount_rows(counted);
END $$;

-- More than 1,000 children share a set, and rows of the record with up to 1,000 each; with their states up to 100, because
-- an array of JSON is limited to 256 MiB. The lock on the parent keeps others from adding children. Until the parent is
-- deleted, a setting names it and the collections of such children, whose own triggers then have nothing to do.
CREATE FUNCTION resource_before_delete() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  owned record;
  are_many boolean;
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
      WHERE deletion.tgrelid = TG_RELID AND deletion.tgtype & 8 <> 0 AND reference.confrelid = TG_RELID
      ORDER BY 2
  LOOP
    EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE %I = $1 OFFSET 1000)', owned.resource_table, owned.parent_column)
      INTO are_many USING OLD.id;
    CONTINUE WHEN NOT are_many;
    EXECUTE format('SELECT FROM %I.%I WHERE id = $1 FOR UPDATE', TG_TABLE_SCHEMA, TG_TABLE_NAME) USING OLD.id;
    EXECUTE format('WITH removed AS MATERIALIZED (
        SELECT child.id, child.version,
            CASE WHEN $1 = ANY(feed.states_of) THEN to_jsonb(child.*) END AS before,
            (row_number() OVER () - 1) / CASE WHEN $1 = ANY(feed.states_of) THEN 100 ELSE 1000 END AS part, feed.days
          FROM change_feed AS feed CROSS JOIN (SELECT * FROM %s WHERE %I = $2 FOR UPDATE) AS child
      ), buried AS (
        INSERT INTO tombstone_sets (collection, parent_id, ids, version)
          SELECT $1, $2, array_agg(removed.id), max(removed.version) FROM removed
      )
      INSERT INTO recorded_changes
          (collection, parent_id, id, version, event, changed_date, changed_by, ids, versions, before)
        SELECT $1, $2, '''', max(removed.version), ''deleted'', clock_timestamp(), change_writer(),
            array_agg(removed.id), array_agg(removed.version),
            jsonb_agg(removed.before) FILTER (WHERE removed.before IS NOT NULL)
          FROM removed WHERE removed.days > 0 GROUP BY removed.part ORDER BY removed.part', owned.resource_table, owned.parent_column)
      USING owned.collection, OLD.id;
    buried := format('%s%s/%s ', buried, owned.collection, OLD.id);
  END LOOP;
  IF buried <> '' THEN
    PERFORM set_config('halgraph.buried',
      concat(current_setting('halgraph.buried', TRUE), format('<%s/%s %s>', TG_ARGV[0], OLD.id, buried)), TRUE);
  END IF;
  RETURN OLD;
END $$;

CREATE OR REPLACE FUNCTION resource_after_delete() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  parent text := '';
  buried text;
BEGIN
  IF TG_NARGS > 1 THEN
    parent := resource_parent_id(to_jsonb(OLD), TG_ARGV[1]);
  END IF;
  INSERT INTO tombstones (collection, parent_id, id, version) VALUES (TG_ARGV[0], parent, OLD.id, OLD.version)
    ON CONFLICT (collection, parent_id, id)
    DO UPDATE SET version = EXCLUDED.version, deleted_date = EXCLUDED.deleted_date;
  INSERT INTO recorded_changes (collection, parent_id, id, version, event, changed_date, changed_by, resource, before)
    SELECT TG_ARGV[0], parent, OLD.id, OLD.version, 'deleted', clock_timestamp(), change_writer(), to_jsonb(OLD),
        CASE WHEN TG_ARGV[0] = ANY(states_of) THEN to_jsonb(OLD) END
      FROM change_feed WHERE days > 0;
  -- Its children are deleted by now, because the triggers of references come before this one by their names.
  buried := current_setting('halgraph.buried', TRUE);
  IF buried <> '' THEN
    PERFORM set_config('halgraph.buried',
      regexp_replace(buried, format('<%s/%s [^>]*>', TG_ARGV[0], replace(OLD.id, '.', '[.]')), ''), TRUE);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION bury_deleted(resource_table text, parent_column text DEFAULT NULL) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  collection text := replace(resource_table, '_', '-');
  identity text := quote_literal(collection) || COALESCE(', ' || quote_literal(parent_column), '');
  condition text := CASE WHEN parent_column IS NULL THEN '' ELSE format(
    'WHEN ((strpos(current_setting(''halgraph.buried'', TRUE), %L || OLD.%I || '' '') > 0) IS NOT TRUE)',
    format(' %s/', collection), parent_column) END;
BEGIN
  -- An owned resource owns none.
  IF parent_column IS NULL THEN
    EXECUTE format('CREATE TRIGGER %I BEFORE DELETE ON %I FOR EACH ROW EXECUTE FUNCTION resource_before_delete(%L)',
      resource_table || '_before_delete', resource_table, collection);
  END IF;
  EXECUTE format('CREATE TRIGGER %I AFTER DELETE ON %I FOR EACH ROW %s EXECUTE FUNCTION resource_after_delete(%s)',
    resource_table || '_after_delete', resource_table, condition, identity);
  EXECUTE format('CREATE TRIGGER %I BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate()',
    resource_table || '_before_truncate', resource_table);
END $$;

-- A change comes after the one before it, also if its session took its numbers earlier. A row of a large deletion
-- comes after all that have no position yet. With the rights of the owner, because an identity column gives numbers to all who
-- may insert, and its sequence does not.
CREATE FUNCTION follow_former_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  former bigint;
BEGIN
  IF NEW.ids IS NULL THEN
    SELECT serial INTO former FROM recorded_changes
      WHERE collection = NEW.collection AND parent_id = NEW.parent_id AND id = NEW.id
      ORDER BY version DESC, serial DESC LIMIT 1;
  ELSE
    SELECT serial INTO former FROM recorded_changes
      WHERE position IS NULL ORDER BY position DESC, serial DESC LIMIT 1;
  END IF;
  WHILE NEW.serial <= former LOOP
    NEW.serial := nextval(pg_get_serial_sequence(format('%I.%I', TG_TABLE_SCHEMA, TG_TABLE_NAME), 'serial'));
  END LOOP;
  RETURN NEW;
END $$;

CREATE TRIGGER "recorded_changes_order" BEFORE INSERT ON "recorded_changes" FOR EACH ROW
  WHEN (NEW.version > 1 OR NEW.event = 'deleted') EXECUTE FUNCTION follow_former_change();

-- A change that lacks the state before it was made by a transaction that had not seen that they are recorded: the states are
-- complete above its position.
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
  WITH oldest AS (
    SELECT collection, parent_id, id, version, serial, ids
      FROM recorded_changes WHERE position IS NULL ORDER BY position, serial LIMIT most
  ), numbers AS (
    SELECT oldest.*, feed.last_position + sum(COALESCE(cardinality(ids), 1)) OVER (ORDER BY serial) AS number FROM oldest
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

CREATE OR REPLACE FUNCTION record_states_before(collections text[]) RETURNS void LANGUAGE sql AS $$
  UPDATE change_feed SET states_of = collections, states_position = last_position WHERE states_of <> collections
$$;

-- No table is altered while the service runs: triggers of updates are always enabled.
DROP TRIGGER "change_feed_days" ON "change_feed";
DROP FUNCTION switch_update_triggers();
DROP FUNCTION add_to_row_count(text, bigint);

DO $$
DECLARE
  served record;
BEGIN
  FOR served IN
    SELECT relname AS name, string_to_array(encode(tgargs, 'escape'), '\000') AS arguments
      FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
      WHERE tgfoid = 'resource_before_insert'::regproc ORDER BY relname
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE TRIGGER %I', served.name, served.name || '_after_update');
    EXECUTE format('DROP TRIGGER %I ON %I', served.name || '_after_delete', served.name);
    EXECUTE format('DROP TRIGGER %I ON %I', served.name || '_before_truncate', served.name);
    PERFORM bury_deleted(served.name, NULLIF(served.arguments[2], ''));
  END LOOP;
  FOR served IN
    SELECT relname AS name FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
      WHERE tgfoid = 'row_count_after_insert'::regproc ORDER BY relname
  LOOP
    EXECUTE format('DROP TRIGGER %I ON %I', served.name || '_row_count_insert', served.name);
    EXECUTE format('DROP TRIGGER %I ON %I', served.name || '_row_count_delete', served.name);
    PERFORM keep_row_count(served.name);
  END LOOP;
END $$;
