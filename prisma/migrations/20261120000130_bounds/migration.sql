-- Every bound of the definitions that no constraint stated yet: lengths, blanks, years, fractions. A row beyond
-- them, written in psql, would be listed and then refused wherever the service reads its own links.
--
-- NOT VALID: rows that are beyond them already stay, and `npm run doctor` names them. Whatever is written
-- from now on is checked.

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

-- The service adds fractions up as doubles, and this as decimals; the wider margin never refuses what the
-- service has taken.
CREATE FUNCTION are_fractions(composition jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT count(*) <= 100
      AND COALESCE(bool_and(char_length(name) <= 100 AND fraction >= 0), TRUE)
      AND COALESCE(sum(fraction), 0) <= 1.000001
      AND count(*) = count(fraction)
      AND jsonb_typeof(composition) = 'object'
    FROM (
      SELECT key AS name, CASE WHEN jsonb_typeof(value) = 'number' THEN value::numeric END AS fraction
        FROM jsonb_each(CASE WHEN jsonb_typeof(composition) = 'object' THEN composition ELSE '{}' END)
    ) AS members
$$;

ALTER TABLE "species"
  DROP CONSTRAINT IF EXISTS "species_scientific_name_check",
  ADD CONSTRAINT "species_scientific_name_check" CHECK (char_length("scientific_name") <= 500 AND NOT is_blank("scientific_name")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "species_common_name_check",
  ADD CONSTRAINT "species_common_name_check" CHECK (char_length("common_name") <= 500) NOT VALID,
  DROP CONSTRAINT IF EXISTS "species_classification_kingdom_check",
  ADD CONSTRAINT "species_classification_kingdom_check" CHECK (char_length("classification_kingdom") <= 500) NOT VALID,
  DROP CONSTRAINT IF EXISTS "species_classification_class_check",
  ADD CONSTRAINT "species_classification_class_check" CHECK (char_length("classification_class") <= 500) NOT VALID,
  DROP CONSTRAINT IF EXISTS "species_classification_phylum_check",
  ADD CONSTRAINT "species_classification_phylum_check" CHECK (char_length("classification_phylum") <= 500) NOT VALID,
  DROP CONSTRAINT IF EXISTS "species_habitat_check",
  ADD CONSTRAINT "species_habitat_check" CHECK (char_length("habitat") <= 500) NOT VALID,
  DROP CONSTRAINT IF EXISTS "species_planet_origin_check",
  ADD CONSTRAINT "species_planet_origin_check" CHECK (char_length("planet_origin") <= 500) NOT VALID,
  DROP CONSTRAINT IF EXISTS "species_intelligence_level_check",
  ADD CONSTRAINT "species_intelligence_level_check" CHECK (char_length("intelligence_level") <= 500) NOT VALID,
  DROP CONSTRAINT IF EXISTS "species_discovery_status_check",
  ADD CONSTRAINT "species_discovery_status_check" CHECK (char_length("discovery_status") <= 500) NOT VALID,
  DROP CONSTRAINT IF EXISTS "species_discovered_date_check",
  ADD CONSTRAINT "species_discovered_date_check" CHECK (is_in_calendar("discovered_date")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "species_last_updated_check",
  ADD CONSTRAINT "species_last_updated_check" CHECK (is_in_calendar("last_updated")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "species_dates_check";

ALTER TABLE "planets"
  DROP CONSTRAINT IF EXISTS "planets_name_check",
  ADD CONSTRAINT "planets_name_check" CHECK (char_length("name") <= 500 AND NOT is_blank("name")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "planets_host_star_check",
  ADD CONSTRAINT "planets_host_star_check" CHECK (char_length("host_star") <= 500) NOT VALID,
  DROP CONSTRAINT IF EXISTS "planets_discovery_method_check",
  ADD CONSTRAINT "planets_discovery_method_check" CHECK (char_length("discovery_method") <= 500) NOT VALID,
  DROP CONSTRAINT IF EXISTS "planets_created_date_check",
  ADD CONSTRAINT "planets_created_date_check" CHECK (is_in_calendar("created_date")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "planets_last_updated_check",
  ADD CONSTRAINT "planets_last_updated_check" CHECK (is_in_calendar("last_updated")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "planets_dates_check";

ALTER TABLE "moons"
  DROP CONSTRAINT IF EXISTS "moons_name_check",
  ADD CONSTRAINT "moons_name_check" CHECK (char_length("name") <= 500 AND NOT is_blank("name")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "moons_created_date_check",
  ADD CONSTRAINT "moons_created_date_check" CHECK (is_in_calendar("created_date")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "moons_last_updated_check",
  ADD CONSTRAINT "moons_last_updated_check" CHECK (is_in_calendar("last_updated")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "moons_dates_check";

ALTER TABLE "atmosphere"
  DROP CONSTRAINT IF EXISTS "atmosphere_dominant_gas_check",
  ADD CONSTRAINT "atmosphere_dominant_gas_check" CHECK (char_length("dominant_gas") <= 500) NOT VALID,
  DROP CONSTRAINT IF EXISTS "atmosphere_composition_check",
  ADD CONSTRAINT "atmosphere_composition_check" CHECK (are_fractions("composition")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "atmosphere_created_date_check",
  ADD CONSTRAINT "atmosphere_created_date_check" CHECK (is_in_calendar("created_date")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "atmosphere_last_updated_check",
  ADD CONSTRAINT "atmosphere_last_updated_check" CHECK (is_in_calendar("last_updated")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "atmosphere_dates_check";

ALTER TABLE "spacecraft"
  DROP CONSTRAINT IF EXISTS "spacecraft_name_check",
  ADD CONSTRAINT "spacecraft_name_check" CHECK (char_length("name") <= 500 AND NOT is_blank("name")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "spacecraft_launched_date_check",
  ADD CONSTRAINT "spacecraft_launched_date_check" CHECK (is_in_calendar("launched_date")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "spacecraft_created_date_check",
  ADD CONSTRAINT "spacecraft_created_date_check" CHECK (is_in_calendar("created_date")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "spacecraft_last_updated_check",
  ADD CONSTRAINT "spacecraft_last_updated_check" CHECK (is_in_calendar("last_updated")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "spacecraft_dates_check";

ALTER TABLE "missions"
  DROP CONSTRAINT IF EXISTS "missions_name_check",
  ADD CONSTRAINT "missions_name_check" CHECK (char_length("name") <= 500 AND NOT is_blank("name")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "missions_objective_check",
  ADD CONSTRAINT "missions_objective_check" CHECK (char_length("objective") <= 10000) NOT VALID,
  DROP CONSTRAINT IF EXISTS "missions_launch_date_check",
  ADD CONSTRAINT "missions_launch_date_check" CHECK (is_in_calendar("launch_date")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "missions_created_date_check",
  ADD CONSTRAINT "missions_created_date_check" CHECK (is_in_calendar("created_date")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "missions_last_updated_check",
  ADD CONSTRAINT "missions_last_updated_check" CHECK (is_in_calendar("last_updated")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "missions_dates_check";

ALTER TABLE "crew"
  DROP CONSTRAINT IF EXISTS "crew_role_check",
  ADD CONSTRAINT "crew_role_check" CHECK (char_length("role") <= 500 AND NOT is_blank("role")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "crew_created_date_check",
  ADD CONSTRAINT "crew_created_date_check" CHECK (is_in_calendar("created_date")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "crew_last_updated_check",
  ADD CONSTRAINT "crew_last_updated_check" CHECK (is_in_calendar("last_updated")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "crew_dates_check";

ALTER TABLE "data"
  DROP CONSTRAINT IF EXISTS "data_instrument_check",
  ADD CONSTRAINT "data_instrument_check" CHECK (char_length("instrument") <= 500 AND NOT is_blank("instrument")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "data_recorded_at_check",
  ADD CONSTRAINT "data_recorded_at_check" CHECK (is_in_calendar("recorded_at")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "data_quantity_check",
  ADD CONSTRAINT "data_quantity_check" CHECK (char_length("quantity") <= 500 AND NOT is_blank("quantity")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "data_unit_check",
  ADD CONSTRAINT "data_unit_check" CHECK (char_length("unit") <= 500) NOT VALID,
  DROP CONSTRAINT IF EXISTS "data_created_date_check",
  ADD CONSTRAINT "data_created_date_check" CHECK (is_in_calendar("created_date")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "data_last_updated_check",
  ADD CONSTRAINT "data_last_updated_check" CHECK (is_in_calendar("last_updated")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "data_dates_check";

ALTER TABLE "astronauts"
  DROP CONSTRAINT IF EXISTS "astronauts_name_check",
  ADD CONSTRAINT "astronauts_name_check" CHECK (char_length("name") <= 500 AND NOT is_blank("name")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "astronauts_call_sign_check",
  ADD CONSTRAINT "astronauts_call_sign_check" CHECK (char_length("call_sign") <= 500) NOT VALID,
  DROP CONSTRAINT IF EXISTS "astronauts_rank_check",
  ADD CONSTRAINT "astronauts_rank_check" CHECK (char_length("rank") <= 500) NOT VALID,
  DROP CONSTRAINT IF EXISTS "astronauts_created_date_check",
  ADD CONSTRAINT "astronauts_created_date_check" CHECK (is_in_calendar("created_date")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "astronauts_last_updated_check",
  ADD CONSTRAINT "astronauts_last_updated_check" CHECK (is_in_calendar("last_updated")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "astronauts_dates_check";

ALTER TABLE "training_records"
  DROP CONSTRAINT IF EXISTS "training_records_course_check",
  ADD CONSTRAINT "training_records_course_check" CHECK (char_length("course") <= 500 AND NOT is_blank("course")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "training_records_completed_date_check",
  ADD CONSTRAINT "training_records_completed_date_check" CHECK (is_in_calendar("completed_date")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "training_records_instructor_check",
  ADD CONSTRAINT "training_records_instructor_check" CHECK (char_length("instructor") <= 500) NOT VALID,
  DROP CONSTRAINT IF EXISTS "training_records_expires_date_check",
  ADD CONSTRAINT "training_records_expires_date_check" CHECK (is_in_calendar("expires_date")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "training_records_created_date_check",
  ADD CONSTRAINT "training_records_created_date_check" CHECK (is_in_calendar("created_date")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "training_records_last_updated_check",
  ADD CONSTRAINT "training_records_last_updated_check" CHECK (is_in_calendar("last_updated")) NOT VALID,
  DROP CONSTRAINT IF EXISTS "training_records_dates_check";
