-- The record of changes costs less: updates nothing while no changes are recorded, and purging the same for any number of
-- changes.

-- The triggers that record updates are disabled with the record. Only the owner of a table may disable its triggers, so this runs with the rights of the owner. Roles that may not turn
-- the record off are refused.
CREATE FUNCTION switch_update_triggers(is_recorded boolean) RETURNS void LANGUAGE plpgsql
  SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  served record;
BEGIN
  IF NOT has_column_privilege(session_user, (SELECT tableoid FROM change_feed), 'days', 'UPDATE') THEN
    RAISE EXCEPTION 'permission denied to turn the record of changes on or off' USING ERRCODE = 'insufficient_privilege';
  END IF;
  FOR served IN
    SELECT tgrelid::regclass AS resource_table, tgname FROM pg_trigger
      WHERE tgfoid = 'resource_after_update'::regproc AND tgenabled <> CASE WHEN is_recorded THEN 'O' ELSE 'D' END
      ORDER BY tgrelid
  LOOP
    EXECUTE format('ALTER TABLE %s %s TRIGGER %I', served.resource_table,
      CASE WHEN is_recorded THEN 'ENABLE' ELSE 'DISABLE' END, served.tgname);
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION keep_changes(for_days integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE change_feed SET days = for_days,
      last_position = last_position + (days = 0)::int,
      purged_position = CASE WHEN days = 0 THEN last_position + 1 ELSE purged_position END,
      begin_date = CASE WHEN days = 0 THEN clock_timestamp() ELSE begin_date END
    WHERE days <> for_days;
  IF FOUND THEN
    PERFORM switch_update_triggers(for_days > 0);
  END IF;
END $$;

-- No changes are left up to this position. A purge continues behind it: to pass the index entries of all deleted rows
-- again would take longer with each step, until they are vacuumed.
ALTER TABLE "change_feed" ADD COLUMN "emptied_position" BIGINT NOT NULL DEFAULT 0;

CREATE OR REPLACE FUNCTION purge_changes(before timestamptz, most integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  boundary record;
  emptied bigint;
BEGIN
  SELECT emptied_position INTO emptied FROM change_feed FOR UPDATE;
  SELECT max(position) AS position, max(serial) AS serial, count(*) AS rows INTO boundary
    FROM (
      SELECT position, serial, bool_and(changed_date < before) OVER (ORDER BY position) AS is_old
        FROM (
          SELECT position, serial, changed_date FROM recorded_changes
            WHERE position > emptied ORDER BY position LIMIT most
        ) AS oldest
    ) AS aged WHERE is_old;
  DELETE FROM recorded_changes WHERE position > emptied AND position <= boundary.position;
  DELETE FROM recorded_changes WHERE position = 0 AND serial < boundary.serial;
  UPDATE change_feed SET emptied_position = boundary.position,
      purged_position = GREATEST(purged_position, boundary.position),
      begin_date = CASE WHEN purged_position < boundary.position THEN GREATEST(begin_date, before) ELSE begin_date END
    WHERE boundary.position IS NOT NULL;
  RETURN boundary.rows;
END $$;

DO $$
BEGIN
  IF EXISTS (SELECT FROM change_feed WHERE days = 0) THEN
    PERFORM switch_update_triggers(FALSE);
  END IF;
END $$;
