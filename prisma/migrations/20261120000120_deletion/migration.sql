-- Deletion in bounded time, and no way to empty a table that gives versions twice.
--
-- A tombstone for each row costs ten times as much as to delete the row: a planet with 300,000 moons took
-- longer to delete than any request may take. Tombstones are now written once for each statement, and the
-- children of a large deletion share one row in tombstone_sets.

-- CreateTable
CREATE TABLE "tombstone_sets" (
    "collection" TEXT COLLATE "C" NOT NULL,
    "parent_id" TEXT COLLATE "C" NOT NULL,
    "number" BIGINT GENERATED ALWAYS AS IDENTITY,
    "ids" TEXT[] COLLATE "C",
    "version" INTEGER NOT NULL,
    "deleted_date" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),

    CONSTRAINT "tombstone_sets_pkey" PRIMARY KEY ("collection","parent_id","number")
);

-- Not compressed: that would take longer than all the rest of the deletion.
ALTER TABLE "tombstone_sets" ALTER COLUMN "ids" SET STORAGE EXTERNAL;

-- A set has the highest version in it, and every later child of that parent starts above it, so that an
-- insert need not look into the set.
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
  NEW.version := GREATEST(buried, buried_in_set, 0) + 1;
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
  RETURN NULL;
END $$;

-- Up to 1,000 rows have a tombstone each, which is replaced when the same row is deleted again. More than
-- that share a set for each parent.
CREATE OR REPLACE FUNCTION resource_after_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_NARGS > 1 AND EXISTS (SELECT FROM removed OFFSET 1000) THEN
    EXECUTE format('INSERT INTO tombstone_sets (collection, parent_id, ids, version)
      SELECT %L, %I, array_agg(id), max(version) FROM removed GROUP BY %I', TG_ARGV[0], TG_ARGV[1], TG_ARGV[1]);
    RETURN NULL;
  END IF;
  INSERT INTO tombstones (collection, parent_id, id, version)
    SELECT TG_ARGV[0], CASE WHEN TG_NARGS > 1 THEN resource_parent_id(to_jsonb(removed), TG_ARGV[1]) ELSE '' END,
      id, version FROM removed
    ON CONFLICT (collection, parent_id, id)
    DO UPDATE SET version = EXCLUDED.version, deleted_date = EXCLUDED.deleted_date;
  RETURN NULL;
END $$;

-- TRUNCATE leaves no tombstones, and its CASCADE goes further than any deletion here: TRUNCATE planets CASCADE
-- would empty species, missions and astronauts.
CREATE FUNCTION refuse_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'TRUNCATE of % would give versions twice', TG_TABLE_NAME
    USING ERRCODE = 'restrict_violation', HINT = format('Use DELETE FROM %I.', TG_TABLE_NAME);
END $$;

-- Tombstones change only with the rows that they stand for.
CREATE FUNCTION refuse_tombstone_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% of % would give versions twice', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'restrict_violation',
      HINT = 'Tombstones keep the versions of deleted resources counting when they are created again.';
END $$;

CREATE TRIGGER "tombstones_kept" BEFORE UPDATE OR DELETE ON "tombstones" FOR EACH STATEMENT
  WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION refuse_tombstone_change();
CREATE TRIGGER "tombstone_sets_kept" BEFORE UPDATE OR DELETE ON "tombstone_sets" FOR EACH STATEMENT
  WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION refuse_tombstone_change();
CREATE TRIGGER "tombstones_truncate" BEFORE TRUNCATE ON "tombstones" FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_tombstone_change();
CREATE TRIGGER "tombstone_sets_truncate" BEFORE TRUNCATE ON "tombstone_sets" FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_tombstone_change();

-- The triggers of deletion, for serve_resource and for the tables that are served already.
CREATE FUNCTION bury_deleted(resource_table text, parent_column text DEFAULT NULL) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  collection text := replace(resource_table, '_', '-');
  identity text := quote_literal(collection) || COALESCE(', ' || quote_literal(parent_column), '');
BEGIN
  EXECUTE format('CREATE TRIGGER %I AFTER DELETE ON %I REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION resource_after_delete(%s)',
    resource_table || '_after_delete', resource_table, identity);
  EXECUTE format('CREATE TRIGGER %I BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate()',
    resource_table || '_before_truncate', resource_table);
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
  PERFORM bury_deleted(resource_table, parent_column);
END $$;

DROP TRIGGER "species_after_delete" ON "species";
DROP TRIGGER "planets_after_delete" ON "planets";
DROP TRIGGER "moons_after_delete" ON "moons";
DROP TRIGGER "atmosphere_after_delete" ON "atmosphere";
DROP TRIGGER "spacecraft_after_delete" ON "spacecraft";
DROP TRIGGER "missions_after_delete" ON "missions";
DROP TRIGGER "crew_after_delete" ON "crew";
DROP TRIGGER "data_after_delete" ON "data";
DROP TRIGGER "astronauts_after_delete" ON "astronauts";
DROP TRIGGER "training_records_after_delete" ON "training_records";

SELECT bury_deleted('species');
SELECT bury_deleted('planets');
SELECT bury_deleted('moons', 'planet_id');
SELECT bury_deleted('atmosphere', 'planet_id');
SELECT bury_deleted('spacecraft');
SELECT bury_deleted('missions');
SELECT bury_deleted('crew', 'mission_id');
SELECT bury_deleted('data', 'mission_id');
SELECT bury_deleted('astronauts');
SELECT bury_deleted('training_records', 'astronaut_id');

-- There is no TRUNCATE any more that a count would have to follow.
DROP TRIGGER "species_row_count_truncate" ON "species";
DROP TRIGGER "planets_row_count_truncate" ON "planets";
DROP TRIGGER "spacecraft_row_count_truncate" ON "spacecraft";
DROP TRIGGER "missions_row_count_truncate" ON "missions";
DROP TRIGGER "astronauts_row_count_truncate" ON "astronauts";
DROP FUNCTION row_count_after_truncate();

-- Counts the rows of a table anew: after a count was changed by hand, or rows while triggers were off.
CREATE FUNCTION recount_rows(counted text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', counted);
  DELETE FROM row_counts WHERE collection = counted;
  EXECUTE format('INSERT INTO row_counts (collection, rows) SELECT %L, count(*) FROM %I', counted, counted);
END $$;

CREATE OR REPLACE FUNCTION keep_row_count(counted text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', counted);
  EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON %I REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION row_count_after_insert()', counted || '_row_count_insert', counted);
  EXECUTE format('CREATE TRIGGER %I AFTER DELETE ON %I REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION row_count_after_delete()', counted || '_row_count_delete', counted);
  PERFORM recount_rows(counted);
END $$;
