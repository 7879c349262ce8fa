-- The record of changes costs less: updates nothing while no changes are recorded, and purging the same for any number of
-- changes.

-- The triggers that record updates are disabled with the record, whoever changes its days. Only the owner of a table may
-- disable its triggers, so this runs with the rights of the owner.
CREATE FUNCTION switch_update_triggers() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  served record;
BEGIN
  FOR served IN
    SELECT tgrelid::regclass AS resource_table, tgname FROM pg_trigger
      WHERE tgfoid = 'resource_after_update'::regproc AND tgenabled <> CASE WHEN NEW.days > 0 THEN 'O' ELSE 'D' END
      ORDER BY tgrelid
  LOOP
    EXECUTE format('ALTER TABLE %s %s TRIGGER %I', served.resource_table,
      CASE WHEN NEW.days > 0 THEN 'ENABLE' ELSE 'DISABLE' END, served.tgname);
  END LOOP;
  RETURN NULL;
END $$;

CREATE TRIGGER "change_feed_days" AFTER UPDATE OF "days" ON "change_feed" FOR EACH ROW
  EXECUTE FUNCTION switch_update_triggers();

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

-- Where nothing is recorded already.
UPDATE "change_feed" SET "days" = "days";
