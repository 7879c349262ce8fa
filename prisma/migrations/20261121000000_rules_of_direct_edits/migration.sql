-- Two rules that edits in Prisma Studio or psql could break.

-- The planet that an origin means: the one with that identifier, else the one with that name.
CREATE FUNCTION planet_of_origin(origin text) RETURNS text LANGUAGE sql STABLE STRICT AS
  $$ SELECT id FROM planets WHERE id = origin OR folded(name) = folded(origin) ORDER BY id = origin DESC LIMIT 1 $$;

CREATE FUNCTION species_refers_to_origin() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.planet_id := planet_of_origin(NEW.planet_origin);
  RETURN NEW;
END $$;

-- Triggers fire in the order of their names, and these come before the one that raises the version. A planet may
-- be renamed afterwards: as long as neither column changes, the reference stays.
CREATE TRIGGER "species_1_origin_insert" BEFORE INSERT ON "species" FOR EACH ROW
  WHEN (NEW.planet_origin IS NOT NULL OR NEW.planet_id IS NOT NULL) EXECUTE FUNCTION species_refers_to_origin();
CREATE TRIGGER "species_1_origin_update" BEFORE UPDATE ON "species" FOR EACH ROW
  WHEN (NEW.planet_origin IS DISTINCT FROM OLD.planet_origin OR NEW.planet_id IS DISTINCT FROM OLD.planet_id)
  EXECUTE FUNCTION species_refers_to_origin();

CREATE FUNCTION mission_status_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (OLD.status = 'planned' AND NEW.status IN ('active', 'aborted'))
    OR (OLD.status = 'active' AND NEW.status IN ('completed', 'aborted')) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'a mission that is % cannot become %', OLD.status, NEW.status USING ERRCODE = 'check_violation';
END $$;

CREATE TRIGGER "missions_1_status" BEFORE UPDATE ON "missions" FOR EACH ROW
  WHEN (NEW.status <> OLD.status) EXECUTE FUNCTION mission_status_moves();

-- The species whose reference is to another planet than their origin names. An origin that names no planet any more,
-- because the planet was renamed, keeps its reference.
CREATE FUNCTION inconsistent_references() RETURNS TABLE (collection text, id text) LANGUAGE sql STABLE AS $$
  SELECT 'species', species.id FROM species
  LEFT JOIN planets AS by_id ON by_id.id = species.planet_origin
  LEFT JOIN planets AS by_name ON folded(by_name.name) = folded(species.planet_origin)
  WHERE species.planet_id IS DISTINCT FROM COALESCE(by_id.id, by_name.id)
    AND (species.planet_origin IS NULL OR COALESCE(by_id.id, by_name.id) IS NOT NULL)
$$;

CREATE FUNCTION repair_references() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  repaired bigint;
BEGIN
  UPDATE species SET planet_id = planet_of_origin(planet_origin)
    WHERE id IN (SELECT inconsistent.id FROM inconsistent_references() AS inconsistent);
  GET DIAGNOSTICS repaired = ROW_COUNT;
  RETURN repaired;
END $$;

SELECT repair_references();
