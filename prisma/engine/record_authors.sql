-- Each resource shows who has changed it last, and the record of changes takes the author from there.

-- A write names its author in the column changed_by. One that does not, such as an edit in Studio, has the author of
-- its transaction or else the role: see change_writer. A named author becomes that of the transaction, so that
-- whatever the write changes besides has the same one. A deletion, which has no column to write, sets it itself.
CREATE FUNCTION resource_author() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.changed_by IS NULL THEN
    NEW.changed_by := change_writer();
  ELSE
    PERFORM set_config('halgraph.subject', NEW.changed_by, TRUE);
  END IF;
  RETURN NEW;
END $$;

-- Creates the trigger of a table that has the column. It comes before resource_before_update, by its name.
CREATE FUNCTION record_authors(resource_table text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TRIGGER %I BEFORE INSERT OR UPDATE OF changed_by ON %I FOR EACH ROW
    EXECUTE FUNCTION resource_author()', resource_table || '_author', resource_table);
END $$;

-- An author alone is no change.
CREATE OR REPLACE FUNCTION resource_before_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.id <> OLD.id OR (TG_NARGS > 1 AND resource_parent_id(to_jsonb(NEW), TG_ARGV[1])
      <> resource_parent_id(to_jsonb(OLD), TG_ARGV[1])) THEN
    RAISE EXCEPTION 'an identifier is immutable' USING ERRCODE = 'restrict_violation';
  END IF;
  NEW.version := OLD.version;
  NEW.last_updated := OLD.last_updated;
  NEW.changed_by := OLD.changed_by;
  IF NEW IS DISTINCT FROM OLD THEN
    NEW.version := next_version(OLD.version);
    NEW.last_updated := GREATEST(clock_timestamp(), OLD.last_updated);
    NEW.changed_by := change_writer();
  END IF;
  RETURN NEW;
END $$;

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
    SELECT TG_ARGV[0], parent, NEW.id, NEW.version, 'created', clock_timestamp(), NEW.changed_by, to_jsonb(NEW)
      FROM change_feed WHERE days > 0;
  RETURN NULL;
END $$;

-- The author is missing if the triggers before it were disabled.
CREATE OR REPLACE FUNCTION resource_after_update() RETURNS trigger LANGUAGE plpgsql AS $$
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
    SELECT TG_ARGV[0], parent, NEW.id, NEW.version, NULL, 'changed', clock_timestamp(),
        COALESCE(NEW.changed_by, change_writer()), to_jsonb(NEW)
      FROM change_feed WHERE days > 0;
  RETURN NULL;
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
  PERFORM record_authors(resource_table);
  PERFORM record_updates(resource_table, parent_column);
  PERFORM bury_deleted(resource_table, parent_column);
END $$;

-- The tables that are served already. Who has changed their rows last is not known. A field of that name, which is
-- reserved now, is renamed next, with its triggers.
DO $$
DECLARE
  served text;
BEGIN
  FOR served IN
    SELECT relname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
      WHERE tgfoid = 'resource_before_insert'::regproc ORDER BY relname
  LOOP
    EXECUTE format('ALTER TABLE %I ADD COLUMN IF NOT EXISTS changed_by TEXT COLLATE "C"', served);
    PERFORM record_authors(served);
  END LOOP;
END $$;
