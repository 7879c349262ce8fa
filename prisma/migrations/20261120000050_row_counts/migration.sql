-- How many rows a collection has, kept by triggers, so that a list without a filter need not count them.
--
-- The count of a table is the sum of its slots. A writer adds to a slot that no other transaction holds, and
-- makes a new one where all are held, so that writers never wait for one another; there are as many slots
-- as there ever were transactions writing at one moment. What a transaction adds is seen together with the
-- rows it adds, and goes with them where it is rolled back.

CREATE TABLE "row_counts" (
    "collection" TEXT COLLATE "C" NOT NULL,
    "slot" BIGINT GENERATED ALWAYS AS IDENTITY,
    "rows" BIGINT NOT NULL,

    CONSTRAINT "row_counts_pkey" PRIMARY KEY ("collection", "slot")
) WITH (fillfactor = 20);

-- In a transaction that sees one snapshot throughout, to change a slot that has been changed since is an
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

CREATE FUNCTION row_count_after_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM row_counts WHERE collection = TG_TABLE_NAME;
  RETURN NULL;
END $$;

-- What the migration of a further collection calls: `SELECT keep_row_count('<table>')`.
CREATE FUNCTION keep_row_count(counted text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', counted);
  EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON %I REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION row_count_after_insert()', counted || '_row_count_insert', counted);
  EXECUTE format('CREATE TRIGGER %I AFTER DELETE ON %I REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION row_count_after_delete()', counted || '_row_count_delete', counted);
  EXECUTE format('CREATE TRIGGER %I AFTER TRUNCATE ON %I
    FOR EACH STATEMENT EXECUTE FUNCTION row_count_after_truncate()', counted || '_row_count_truncate', counted);
  EXECUTE format('INSERT INTO row_counts (collection, rows) SELECT %L, count(*) FROM %I', counted, counted);
END $$;

SELECT keep_row_count('species'), keep_row_count('planets'), keep_row_count('spacecraft'),
  keep_row_count('missions'), keep_row_count('astronauts');
