-- A change can bring a row into the view of a caller that may not read all rows, or take it out: that depends on the state
-- before it, and for an owned row on the state of its parent. So the record has the state before each change of the
-- collections with access rules, of what they own and of their owners. Others pay nothing.

-- The collections, and a position up to which some of their states are missing.
ALTER TABLE "change_feed"
  ADD COLUMN "states_of" TEXT[] COLLATE "C" NOT NULL DEFAULT '{}',
  ADD COLUMN "states_position" BIGINT NOT NULL DEFAULT 0;

-- JSON null before a creation, and an array for the rows of a large deletion. Null if it is not recorded.
ALTER TABLE "recorded_changes" ADD COLUMN "before" JSONB;

-- The state at a position is the one before the next change.
CREATE INDEX "recorded_changes_before_idx" ON "recorded_changes"("collection", "parent_id", "id", "position")
  WHERE "before" IS NOT NULL;

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
  INSERT INTO recorded_changes (collection, parent_id, id, version, event, changed_date, changed_by, resource, before)
    SELECT TG_ARGV[0], parent, NEW.id, NEW.version, 'created', clock_timestamp(), NEW.changed_by, to_jsonb(NEW),
        CASE WHEN TG_ARGV[0] = ANY(states_of) THEN 'null'::jsonb END
      FROM change_feed WHERE days > 0;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION resource_after_update() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  parent text := '';
BEGIN
  IF TG_NARGS > 1 THEN
    parent := resource_parent_id(to_jsonb(NEW), TG_ARGV[1]);
  END IF;
  INSERT INTO recorded_changes
      (collection, parent_id, id, version, position, event, changed_date, changed_by, resource, before)
    SELECT TG_ARGV[0], parent, OLD.id, OLD.version, 0, NULL, OLD.last_updated, NULL, to_jsonb(OLD), NULL
      FROM change_feed WHERE days > 0 AND begin_date >= OLD.last_updated
    UNION ALL
    SELECT TG_ARGV[0], parent, NEW.id, NEW.version, NULL, 'changed', clock_timestamp(),
        COALESCE(NEW.changed_by, change_writer()), to_jsonb(NEW),
        CASE WHEN TG_ARGV[0] = ANY(states_of) THEN to_jsonb(OLD) END
      FROM change_feed WHERE days > 0;
  RETURN NULL;
END $$;

-- With the states, a row of a large deletion has fewer children: an array of JSON is limited to 256 MiB.
CREATE OR REPLACE FUNCTION resource_after_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_NARGS > 1 AND EXISTS (SELECT FROM removed OFFSET 1000) THEN
    EXECUTE format('INSERT INTO tombstone_sets (collection, parent_id, ids, version)
      SELECT %L, removed.%I, array_agg(removed.id), max(removed.version) FROM removed GROUP BY removed.%I',
      TG_ARGV[0], TG_ARGV[1], TG_ARGV[1]);
    EXECUTE format('INSERT INTO recorded_changes
        (collection, parent_id, id, version, event, changed_date, changed_by, ids, versions, before)
      SELECT %L, children.parent_id, '''', max(children.version), ''deleted'', clock_timestamp(), change_writer(),
        array_agg(children.id), array_agg(children.version),
        jsonb_agg(children.before) FILTER (WHERE children.before IS NOT NULL)
      FROM (
        SELECT removed.%I AS parent_id, removed.id, removed.version,
            CASE WHEN %L = ANY(feed.states_of) THEN to_jsonb(removed.*) END AS before,
            (row_number() OVER (PARTITION BY removed.%I) - 1)
              / CASE WHEN %L = ANY(feed.states_of) THEN 100 ELSE 1000 END AS part
          FROM change_feed AS feed CROSS JOIN removed WHERE feed.days > 0
      ) AS children GROUP BY children.parent_id, children.part',
      TG_ARGV[0], TG_ARGV[1], TG_ARGV[0], TG_ARGV[1], TG_ARGV[0]);
    RETURN NULL;
  END IF;
  INSERT INTO tombstones (collection, parent_id, id, version)
    SELECT TG_ARGV[0], CASE WHEN TG_NARGS > 1 THEN resource_parent_id(to_jsonb(removed.*), TG_ARGV[1]) ELSE '' END,
      removed.id, removed.version FROM removed
    ON CONFLICT (collection, parent_id, id)
    DO UPDATE SET version = EXCLUDED.version, deleted_date = EXCLUDED.deleted_date;
  INSERT INTO recorded_changes (collection, parent_id, id, version, event, changed_date, changed_by, resource, before)
    SELECT TG_ARGV[0], CASE WHEN TG_NARGS > 1 THEN resource_parent_id(to_jsonb(removed.*), TG_ARGV[1]) ELSE '' END,
      removed.id, removed.version, 'deleted', clock_timestamp(), change_writer(), to_jsonb(removed.*),
      CASE WHEN TG_ARGV[0] = ANY(feed.states_of) THEN to_jsonb(removed.*) END
      FROM change_feed AS feed CROSS JOIN removed WHERE feed.days > 0;
  RETURN NULL;
END $$;

-- Each process calls this when it starts, with the collections in order. The lock waits for the writes that have not seen
-- them: from then on, all states are recorded.
CREATE FUNCTION record_states_before(collections text[]) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF EXISTS (SELECT FROM change_feed WHERE states_of = collections) THEN
    RETURN;
  END IF;
  -- In this order, as number_changes does.
  PERFORM FROM change_feed FOR UPDATE;
  LOCK TABLE recorded_changes IN SHARE ROW EXCLUSIVE MODE;
  WHILE number_changes(1000) = 1000 LOOP
  END LOOP;
  UPDATE change_feed SET states_of = collections, states_position = last_position;
END $$;
