-- Several databases may begin from one state: a backup that is restored twice, two attempts at an earlier time, two standbys
-- that are promoted, a subscriber. None knows what another gives, so each begins at numbers that no other begins at.

-- Positions begin at the clock, in microseconds since 2026: no database numbers a change in each, so what another gave before is
-- below. By chance up to 10 seconds later, for two that begin at once. If the clock is behind, they go on above 1,000,000,000
-- that may be lost.
--
-- Versions are too short for that. They begin a million later (later, a share of what is left), and by chance up to a 128th
-- of what is left: at first 16 million, and never nothing.
CREATE OR REPLACE FUNCTION begin_timeline() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  clock_position bigint := extract(epoch FROM clock_timestamp() - '2026-01-01 00:00:00+00'::timestamptz) * 1000000;
  highest integer;
  rest integer;
  lowest integer;
BEGIN
  SELECT highest_version, 2147483647 - highest_version INTO highest, rest FROM change_feed FOR UPDATE;
  lowest := highest + LEAST(1048576, rest / 1024) + floor(random() * (rest / 128));
  UPDATE change_feed SET server = server_identifier(), timeline = server_timeline(),
    last_position = GREATEST(last_position + 1000000000, clock_position) + floor(random() * 10000000),
    lowest_version = lowest,
    highest_version = LEAST(lowest::bigint + 65536, 2147483647);
END $$;

-- What counts goes on above all rows: logical replication copies no sequences, and rows may have come without that of the feed.
-- With the rights of the owner, as follow_former_change.
CREATE FUNCTION follow_rows() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  numbered record;
  highest bigint;
BEGIN
  FOR numbered IN
    SELECT attrelid::regclass AS rows_of, attname AS name, pg_get_serial_sequence(attrelid::regclass::text, attname) AS numbers
      FROM pg_attribute WHERE attidentity <> '' AND pg_table_is_visible(attrelid)
  LOOP
    EXECUTE format('SELECT max(%I) FROM %s', numbered.name, numbered.rows_of) INTO highest;
    IF highest > nextval(numbered.numbers) THEN
      PERFORM setval(numbered.numbers, highest);
    END IF;
  END LOOP;
  SELECT GREATEST((SELECT max(version) FROM recorded_changes), (SELECT max(version) FROM tombstones),
    (SELECT max(version) FROM tombstone_sets)) INTO highest;
  FOR numbered IN
    SELECT tgrelid::regclass AS rows_of FROM pg_trigger WHERE tgfoid = 'resource_before_insert'::regproc
  LOOP
    EXECUTE format('SELECT GREATEST($1, max(version)) FROM %s', numbered.rows_of) INTO highest USING highest;
  END LOOP;
  UPDATE change_feed SET highest_version = GREATEST(highest_version, highest),
    last_position = GREATEST(last_position, (SELECT max(position) FROM recorded_changes));
END $$;
