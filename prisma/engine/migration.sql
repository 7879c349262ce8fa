-- What every domain needs: versions, tombstones, row counts, idempotency keys, and the functions of the constraints.
-- The first migration of a new domain is a copy of this file.
--
-- Text is COLLATE "C": sorted by code point, so that pages are the same on every database and survive an upgrade
-- of the collations of the operating system.

-- The response to the first request with an Idempotency-Key: the row as it was created.
CREATE TABLE "idempotency_keys" (
    "subject" TEXT COLLATE "C" NOT NULL,
    "collection" TEXT COLLATE "C" NOT NULL,
    "parent_id" TEXT COLLATE "C" NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL,
    "request_hash" TEXT COLLATE "C" NOT NULL,
    "answer" JSONB,
    "created_date" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("subject","collection","parent_id","key")
);

CREATE INDEX "idempotency_keys_created_date_idx" ON "idempotency_keys"("created_date");

-- Deleted resources, so that they are reported as gone and their versions continue when they are created again.
CREATE TABLE "tombstones" (
    "collection" TEXT COLLATE "C" NOT NULL,
    "parent_id" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "version" INTEGER NOT NULL,
    "deleted_date" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),

    CONSTRAINT "tombstones_pkey" PRIMARY KEY ("collection","parent_id","id")
);

-- The children of one parent that one large deletion removed. The version is their highest.
CREATE TABLE "tombstone_sets" (
    "collection" TEXT COLLATE "C" NOT NULL,
    "parent_id" TEXT COLLATE "C" NOT NULL,
    "number" BIGINT GENERATED ALWAYS AS IDENTITY,
    "ids" TEXT[] COLLATE "C",
    "version" INTEGER NOT NULL,
    "deleted_date" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),

    CONSTRAINT "tombstone_sets_pkey" PRIMARY KEY ("collection","parent_id","number")
);

-- Compression would take longer than the rest of the deletion.
ALTER TABLE "tombstone_sets" ALTER COLUMN "ids" SET STORAGE EXTERNAL;

-- The number of rows of a collection is the sum of its slots. A writer adds to a slot that no other transaction
-- holds, or makes a new one, so that writers do not wait for one another.
CREATE TABLE "row_counts" (
    "collection" TEXT COLLATE "C" NOT NULL,
    "slot" BIGINT GENERATED ALWAYS AS IDENTITY,
    "rows" BIGINT NOT NULL,

    CONSTRAINT "row_counts_pkey" PRIMARY KEY ("collection", "slot")
) WITH (fillfactor = 20);

-- A name is taken whatever its case and the blanks around it. lower() needs the database's own
-- collation here: under "C" it would fold ASCII only.
CREATE FUNCTION folded(name text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
  $$ SELECT lower(btrim(name, E' \t\n\x0B\f\r') COLLATE "default") $$;

-- The version of a resource starts at 1, is raised by one with each real change, and continues where it stopped when
-- a deleted resource is created again: no entity tag is used again with other content. The triggers pass the
-- collection, and the column of the parent if there is one.
CREATE FUNCTION resource_parent_id(resource jsonb, parent_column text) RETURNS text
  LANGUAGE sql IMMUTABLE AS $$ SELECT COALESCE(resource ->> parent_column, '') $$;

-- A set has the highest version in it, and every later child of that parent starts above it, so that an
-- insert need not look into the set.
CREATE FUNCTION resource_before_insert() RETURNS trigger LANGUAGE plpgsql AS $$
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

-- Deletes the tombstone of the row. An insert that waited for a deletion finds a tombstone that it could not see when
-- it took its version; it fails, so that the caller tries again and no version is given twice.
CREATE FUNCTION resource_after_insert() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE FUNCTION resource_before_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.id <> OLD.id OR (TG_NARGS > 1 AND resource_parent_id(to_jsonb(NEW), TG_ARGV[1])
      <> resource_parent_id(to_jsonb(OLD), TG_ARGV[1])) THEN
    RAISE EXCEPTION 'an identifier is immutable' USING ERRCODE = 'restrict_violation';
  END IF;
  NEW.version := OLD.version;
  NEW.last_updated := OLD.last_updated;
  IF NEW IS DISTINCT FROM OLD THEN
    NEW.version := OLD.version + 1;
    NEW.last_updated := GREATEST(clock_timestamp(), OLD.last_updated);
  END IF;
  RETURN NEW;
END $$;

-- Up to 1,000 rows have a tombstone each, which is replaced when the same row is deleted again. More than
-- that share a set for each parent.
CREATE FUNCTION resource_after_delete() RETURNS trigger LANGUAGE plpgsql AS $$
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

-- Creates the triggers of a table. Its collection is named like the table, with hyphens for underscores; an owned
-- resource also has the column of its parent.
CREATE FUNCTION serve_resource(resource_table text, parent_column text DEFAULT NULL) RETURNS void
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

-- Adds to the row count. In a transaction that sees one snapshot throughout, to change a slot that has been changed since is an
-- error; such a transaction makes its own.
CREATE FUNCTION add_to_row_count(counted text, difference bigint) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  IF difference = 0 THEN
    RETURN;
  END IF;
  IF current_setting('transaction_isolation') = 'read committed' THEN
    UPDATE row_counts SET rows = rows + difference
      WHERE collection = counted AND slot = (
        SELECT slot FROM row_counts WHERE collection = counted ORDER BY slot LIMIT 1 FOR UPDATE SKIP LOCKED
      );
    IF FOUND THEN
      RETURN;
    END IF;
  END IF;
  INSERT INTO row_counts (collection, rows) VALUES (counted, difference);
END $$;

CREATE FUNCTION row_count_after_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM add_to_row_count(TG_TABLE_NAME, (SELECT count(*) FROM added));
  RETURN NULL;
END $$;

CREATE FUNCTION row_count_after_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM add_to_row_count(TG_TABLE_NAME, -(SELECT count(*) FROM removed));
  RETURN NULL;
END $$;

-- Creates the triggers that keep the row count of a collection.
CREATE FUNCTION keep_row_count(counted text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', counted);
  EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON %I REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION row_count_after_insert()', counted || '_row_count_insert', counted);
  EXECUTE format('CREATE TRIGGER %I AFTER DELETE ON %I REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION row_count_after_delete()', counted || '_row_count_delete', counted);
  PERFORM recount_rows(counted);
END $$;

-- TRUNCATE leaves no tombstones, and its CASCADE also empties the tables that refer to the table.
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

-- Creates the triggers of deletion, for serve_resource.
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

-- Counts the rows of a table anew: after a count was changed by hand, or rows while triggers were off.
CREATE FUNCTION recount_rows(counted text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', counted);
  DELETE FROM row_counts WHERE collection = counted;
  EXECUTE format('INSERT INTO row_counts (collection, rows) SELECT %L, count(*) FROM %I', counted, counted);
END $$;

-- Blank as String.prototype.trim has it. Only UTF-8 databases know the characters beyond ASCII by number.
DO $$
DECLARE
  blanks text := E' \t\n\x0B\f\r';
BEGIN
  IF getdatabaseencoding() = 'UTF8' THEN
    blanks := blanks || (SELECT string_agg(chr(code), '') FROM unnest(
      ARRAY[160, 5760, 8232, 8233, 8239, 8287, 12288, 65279] || ARRAY(SELECT generate_series(8192, 8202))) AS code);
  END IF;
  EXECUTE format('CREATE FUNCTION is_blank(value text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS %L', format('SELECT btrim(value, %L) = ''''', blanks));
END $$;

CREATE FUNCTION is_in_calendar(moment timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
  $$ SELECT moment >= '0001-01-01 00:00:00+00'::timestamptz AND moment < '10000-01-01 00:00:00+00'::timestamptz $$;

-- An object that maps at most 100 names of at most 100 characters to numbers from 0.
CREATE FUNCTION are_fractions(composition jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT count(*) <= 100
      AND COALESCE(bool_and(char_length(name) <= 100 AND fraction BETWEEN 0 AND 1.7976931348623157e308), TRUE)
      AND count(*) = count(fraction)
      AND jsonb_typeof(composition) = 'object'
    FROM (
      SELECT key AS name, CASE WHEN jsonb_typeof(value) = 'number' THEN value::numeric END AS fraction
        FROM jsonb_each(CASE WHEN jsonb_typeof(composition) = 'object' THEN composition ELSE '{}' END)
    ) AS members
$$;
