-- In a dry run, a caller that could not read a row before its deletion creates it as if it had never been: its versions count
-- from 1. Only the service sets this, for one statement of a transaction that it undoes.
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
  NEW.version := next_version(CASE WHEN current_setting('halgraph.unseen', TRUE) = 'on' THEN 0
    ELSE GREATEST(buried, buried_in_set, 0) END);
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
  IF GREATEST(buried, buried_in_set) >= NEW.version
      AND current_setting('halgraph.unseen', TRUE) IS DISTINCT FROM 'on' THEN
    RAISE EXCEPTION 'it was being deleted while it was created' USING ERRCODE = 'serialization_failure';
  END IF;
  INSERT INTO recorded_changes (collection, parent_id, id, version, event, changed_date, changed_by, resource, before)
    SELECT TG_ARGV[0], parent, NEW.id, NEW.version, 'created', clock_timestamp(), NEW.changed_by, to_jsonb(NEW),
        CASE WHEN TG_ARGV[0] = ANY(states_of) THEN 'null'::jsonb END
      FROM change_feed WHERE days > 0;
  RETURN NULL;
END $$;
