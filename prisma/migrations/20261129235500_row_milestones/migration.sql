-- A difference in "row_counts" has the time of creation of its row, and a sum of differences the first and the last of their
-- times. So the sums before a time that is within none are the number of rows created before it, in any snapshot, whatever was
-- folded: a page by number skips only the rows between the nearest such time and its own. A difference without a time, of a
-- row that this migration does not know, is within all times.
ALTER TABLE "row_counts"
  ADD COLUMN "first" TIMESTAMPTZ NOT NULL DEFAULT '-infinity',
  ADD COLUMN "last" TIMESTAMPTZ NOT NULL DEFAULT 'infinity';

DROP FUNCTION append_row_count(text, bigint);

-- Every 64th folds the small sums between two large ones, of which a collection has about a hundred. One that is large no more,
-- with the deletions in its times, is small, too.
CREATE FUNCTION append_row_count(counted text, difference bigint, created timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  number bigint;
BEGIN
  INSERT INTO row_counts (collection, rows, first, last)
    VALUES (counted, difference, COALESCE(created, '-infinity'), COALESCE(created, 'infinity')) RETURNING slot INTO number;
  IF number % 64 = 0 AND current_setting('transaction_isolation') = 'read committed' THEN
    WITH sums AS (
      SELECT *, GREATEST(sum(rows) OVER (PARTITION BY collection), 64000) / 64 AS size FROM row_counts
    ), gaps AS (
      SELECT *, count(*) FILTER (WHERE 2 * rows >= size) OVER (PARTITION BY collection ORDER BY first) AS gap FROM sums
    ), nets AS (
      SELECT collection, slot, 2 * rows < size OR 2 * sum(rows) OVER (PARTITION BY collection, gap) < size AS is_small FROM gaps
    ), folded AS (
      DELETE FROM row_counts WHERE (collection, slot) IN (
        SELECT collection, slot FROM row_counts WHERE (collection, slot) IN (SELECT collection, slot FROM nets WHERE is_small)
          ORDER BY collection, slot LIMIT 1000 FOR UPDATE SKIP LOCKED
      ) RETURNING collection, slot
    ), parts AS (
      SELECT sums.*, is_small, count(*) FILTER (WHERE NOT is_small) OVER earlier AS gap,
          trunc(sum(rows) FILTER (WHERE is_small) OVER earlier / size) AS part
        FROM sums JOIN nets USING (collection, slot) LEFT JOIN folded USING (collection, slot)
        WHERE NOT is_small OR folded.slot IS NOT NULL
        WINDOW earlier AS (PARTITION BY collection ORDER BY first)
    )
    INSERT INTO row_counts (collection, rows, first, last)
      SELECT collection, sum(rows), min(first), max(last) FROM parts WHERE is_small
        GROUP BY collection, gap, part HAVING sum(rows) <> 0 OR min(first) < max(last);
  END IF;
END $$;

-- The column with the times of creation.
CREATE FUNCTION created_column(counted text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT attname FROM pg_attribute JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attrelid = quote_ident(counted)::regclass AND attname <> 'last_updated'
      AND pg_get_expr(adbin, adrelid) LIKE '%statement_timestamp()%'
    ORDER BY attnum LIMIT 1
$$;

CREATE OR REPLACE FUNCTION row_count_after_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM append_row_count(TG_TABLE_NAME, 1, (to_jsonb(NEW) ->> TG_ARGV[0])::timestamptz);
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION row_count_after_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM append_row_count(TG_TABLE_NAME, -1, (to_jsonb(OLD) ->> TG_ARGV[0])::timestamptz);
  RETURN NULL;
END $$;

CREATE FUNCTION row_count_after_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM append_row_count(TG_TABLE_NAME, -1, (to_jsonb(OLD) ->> TG_ARGV[0])::timestamptz),
    append_row_count(TG_TABLE_NAME, 1, (to_jsonb(NEW) ->> TG_ARGV[0])::timestamptz);
  RETURN NULL;
END $$;

-- Replaces the sums by those of the rows of one snapshot, unless others replace some meanwhile.
CREATE OR REPLACE FUNCTION recount_rows(counted text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  is_exact boolean;
BEGIN
  PERFORM FROM row_counts WHERE collection = counted ORDER BY slot FOR UPDATE;
  EXECUTE format('WITH replaced AS (
      DELETE FROM row_counts WHERE collection = %1$L RETURNING slot
    ), counted AS (
      INSERT INTO row_counts (collection, rows, first, last)
        SELECT %1$L, count(*), min(created), max(created)
          FROM (
            SELECT created, (row_number() OVER (ORDER BY created) - 1) / (GREATEST(count(*) OVER (), 64000) / 64) AS part
              FROM (SELECT %2$I AS created FROM %1$I) AS times
          ) AS parts GROUP BY part
    )
    SELECT (SELECT count(*) FROM row_counts WHERE collection = %1$L) = (SELECT count(*) FROM replaced)',
    counted, created_column(counted)) INTO is_exact;
  IF NOT is_exact THEN
    RAISE EXCEPTION 'the rows of % are being counted', counted USING ERRCODE = 'serialization_failure';
  END IF;
END $$;

CREATE OR REPLACE FUNCTION keep_row_count(counted text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  created text := created_column(counted);
BEGIN
  EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON %I FOR EACH ROW EXECUTE FUNCTION row_count_after_insert(%L)',
    counted || '_row_count_insert', counted, created);
  EXECUTE format('CREATE TRIGGER %I AFTER UPDATE ON %I FOR EACH ROW WHEN (OLD.%I <> NEW.%3$I)
    EXECUTE FUNCTION row_count_after_update(%3$L)', counted || '_row_count_update', counted, created);
  EXECUTE format('CREATE TRIGGER %I AFTER DELETE ON %I FOR EACH ROW EXECUTE FUNCTION row_count_after_delete(%L)',
    counted || '_row_count_delete', counted, created);
  PERFORM recount_rows(counted);
END $$;

DO $$
DECLARE
  served record;
BEGIN
  FOR served IN
    SELECT relname AS name FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
      WHERE tgfoid = 'row_count_after_insert'::regproc ORDER BY relname
  LOOP
    EXECUTE format('DROP TRIGGER %I ON %I', served.name || '_row_count_insert', served.name);
    EXECUTE format('DROP TRIGGER %I ON %I', served.name || '_row_count_delete', served.name);
    PERFORM keep_row_count(served.name);
  END LOOP;
END $$;
