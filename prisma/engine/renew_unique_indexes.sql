-- One notion of blank, and field names that no statement of the engine confuses with its own.

-- Characters that show nothing are blank: White_Space, Default_Ignorable_Code_Point and control characters of Unicode, and
-- a few others. src/model/values.ts has the same, as classes. The functions do not call one another, because PostgreSQL
-- maintains indexes without a search path. From the first character that is not blank, `.*` goes to the last one.
CREATE OR REPLACE FUNCTION is_blank(value text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT value !~ '[^\u0001-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f-\u1160\u1680\u17b4-\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001343f\U00016fe4\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff]'
$$;

CREATE OR REPLACE FUNCTION folded(name text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT lower(COALESCE(substring(name,
    '[^\u0001-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f-\u1160\u1680\u17b4-\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001343f\U00016fe4\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff](?:.*[^\u0001-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f-\u1160\u1680\u17b4-\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001343f\U00016fe4\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff])?'), '')
    COLLATE "default")
$$;

-- Builds the unique indexes of texts again. Rows whose texts have become equal stay: all but the first are left out of the
-- index, which still refuses further ones, and another index finds them.
CREATE FUNCTION renew_unique_indexes() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  made record;
  equal_rows text[];
BEGIN
  FOR made IN
    SELECT indexed.indrelid::regclass AS resource_table, named.relname AS name, whole.name AS whole,
      (SELECT string_agg(pg_get_indexdef(indexed.indexrelid, place, TRUE), ', ' ORDER BY place)
        FROM generate_series(1, indexed.indnkeyatts) AS place) AS compared,
      (SELECT string_agg(pg_get_indexdef(identity.indexrelid, place, TRUE), ' || ''/'' || ' ORDER BY place)
        FROM pg_index AS identity, generate_series(1, identity.indnkeyatts) AS place
        WHERE identity.indrelid = indexed.indrelid AND identity.indisprimary) AS key
    FROM pg_index AS indexed JOIN pg_class AS named ON named.oid = indexed.indexrelid,
      LATERAL (SELECT left(named.relname, 59) || '_all' AS name) AS whole
    WHERE named.relnamespace = quote_ident(current_schema())::regnamespace AND indexed.indisunique
      AND pg_get_indexdef(indexed.indexrelid) ~ '\mfolded\('
      AND (indexed.indpred IS NULL OR to_regclass(quote_ident(whole.name)) IS NOT NULL)
    ORDER BY named.relname
  LOOP
    EXECUTE format('DROP INDEX %I', made.name);
    EXECUTE format('DROP INDEX IF EXISTS %I', made.whole);
    BEGIN
      EXECUTE format('CREATE UNIQUE INDEX %I ON %s (%s)', made.name, made.resource_table, made.compared);
    EXCEPTION WHEN unique_violation THEN
      EXECUTE format('SELECT array_agg(key ORDER BY key) FROM (
          SELECT %1$s AS key, row_number() OVER (PARTITION BY %2$s ORDER BY id) AS place
            FROM %3$s WHERE (%2$s) IS NOT NULL
        ) AS compared WHERE place > 1', made.key, made.compared, made.resource_table) INTO equal_rows;
      EXECUTE format('CREATE UNIQUE INDEX %I ON %s (%s) WHERE %s <> ALL (%L::text[])',
        made.name, made.resource_table, made.compared, made.key, equal_rows);
      EXECUTE format('CREATE INDEX %I ON %s (%s)', made.whole, made.resource_table, made.compared);
      RAISE WARNING '%: % row(s) have a text that must be unique and now equals that of another row, such as %. npm run doctor names them.',
        made.resource_table, cardinality(equal_rows), array_to_string(equal_rows[1:3], ', ');
    END;
  END LOOP;
END $$;

-- First the indexes that were written by hand. REINDEX would use the former function, which the session has cached.
DO $$
DECLARE
  made record;
BEGIN
  FOR made IN
    SELECT indexrelid::regclass AS name, pg_get_indexdef(indexrelid) AS definition
      FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
      WHERE relnamespace = quote_ident(current_schema())::regnamespace
        AND (NOT indisunique OR indpred IS NOT NULL) AND pg_get_indexdef(indexrelid) ~ '\mfolded\('
  LOOP
    EXECUTE format('DROP INDEX %s', made.name);
    EXECUTE made.definition;
  END LOOP;
END $$;

SELECT renew_unique_indexes();

-- Rows whose required text is blank now stay, too. A dump can only be restored if their constraint is NOT VALID.
DO $$
DECLARE
  checked record;
  broken bigint;
BEGIN
  FOR checked IN
    SELECT conrelid::regclass AS resource_table, conname AS name, pg_get_expr(conbin, conrelid) AS condition, convalidated
      FROM pg_constraint WHERE connamespace = quote_ident(current_schema())::regnamespace AND contype = 'c'
        AND pg_get_constraintdef(oid) ~ '\mis_blank\(' ORDER BY conname
  LOOP
    EXECUTE format('SELECT count(*) FROM %s WHERE NOT (%s)', checked.resource_table, checked.condition) INTO broken;
    CONTINUE WHEN broken = 0;
    IF checked.convalidated THEN
      EXECUTE format('ALTER TABLE %1$s DROP CONSTRAINT %2$I, ADD CONSTRAINT %2$I CHECK (%3$s) NOT VALID',
        checked.resource_table, checked.name, checked.condition);
    END IF;
    RAISE WARNING '%: % row(s) have a required text that is blank now, or break % in another way. npm run doctor names them.',
      checked.resource_table, broken, checked.name;
  END LOOP;
END $$;

-- Every column of a resource is qualified, so that a field can have any name. `removed.*` is the whole row, and `removed`
-- could be a field.
CREATE OR REPLACE FUNCTION resource_after_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_NARGS > 1 AND EXISTS (SELECT FROM removed OFFSET 1000) THEN
    EXECUTE format('INSERT INTO tombstone_sets (collection, parent_id, ids, version)
      SELECT %L, removed.%I, array_agg(removed.id), max(removed.version) FROM removed GROUP BY removed.%I',
      TG_ARGV[0], TG_ARGV[1], TG_ARGV[1]);
    EXECUTE format('INSERT INTO recorded_changes
        (collection, parent_id, id, version, event, changed_date, changed_by, ids, versions)
      SELECT %L, children.parent_id, '''', max(children.version), ''deleted'', clock_timestamp(), change_writer(),
        array_agg(children.id), array_agg(children.version)
      FROM (
        SELECT removed.%I AS parent_id, removed.id, removed.version,
            (row_number() OVER (PARTITION BY removed.%I) - 1) / 1000 AS part
          FROM change_feed AS feed CROSS JOIN removed WHERE feed.days > 0
      ) AS children GROUP BY children.parent_id, children.part', TG_ARGV[0], TG_ARGV[1], TG_ARGV[1]);
    RETURN NULL;
  END IF;
  INSERT INTO tombstones (collection, parent_id, id, version)
    SELECT TG_ARGV[0], CASE WHEN TG_NARGS > 1 THEN resource_parent_id(to_jsonb(removed.*), TG_ARGV[1]) ELSE '' END,
      removed.id, removed.version FROM removed
    ON CONFLICT (collection, parent_id, id)
    DO UPDATE SET version = EXCLUDED.version, deleted_date = EXCLUDED.deleted_date;
  INSERT INTO recorded_changes (collection, parent_id, id, version, event, changed_date, changed_by, resource)
    SELECT TG_ARGV[0], CASE WHEN TG_NARGS > 1 THEN resource_parent_id(to_jsonb(removed.*), TG_ARGV[1]) ELSE '' END,
      removed.id, removed.version, 'deleted', clock_timestamp(), change_writer(), to_jsonb(removed.*)
      FROM change_feed AS feed CROSS JOIN removed WHERE feed.days > 0;
  RETURN NULL;
END $$;
