-- Constraints that state a rule of one resource have names of their own. A constraint named after a column states
-- what the definition of the field says, and nothing else.

-- Above absolute zero is a rule of species; their temperatures are otherwise finite numbers.
ALTER TABLE "species"
  RENAME CONSTRAINT "species_temperature_range_min_celsius_check" TO "species_min_celsius_absolute_zero_check";
ALTER TABLE "species"
  RENAME CONSTRAINT "species_temperature_range_max_celsius_check" TO "species_max_celsius_absolute_zero_check";
ALTER TABLE "species"
  ADD CONSTRAINT "species_temperature_range_min_celsius_check"
    CHECK ("temperature_range_min_celsius" > '-Infinity' AND "temperature_range_min_celsius" < 'Infinity') NOT VALID,
  ADD CONSTRAINT "species_temperature_range_max_celsius_check"
    CHECK ("temperature_range_max_celsius" > '-Infinity' AND "temperature_range_max_celsius" < 'Infinity') NOT VALID;

-- One whole at most is a rule of atmospheres, not of every object of fractions. The service adds them up as doubles,
-- and this as decimals; the wider margin never refuses what the service accepts.
CREATE FUNCTION sum_of_fractions(composition jsonb) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT sum(CASE WHEN jsonb_typeof(value) = 'number' THEN value::numeric END)
    FROM jsonb_each(CASE WHEN jsonb_typeof(composition) = 'object' THEN composition ELSE '{}' END)
$$;

ALTER TABLE "atmosphere"
  ADD CONSTRAINT "atmosphere_composition_of_one_whole_check"
    CHECK (sum_of_fractions("composition") <= 1.000001) NOT VALID;

CREATE OR REPLACE FUNCTION are_fractions(composition jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT count(*) <= 100
      AND COALESCE(bool_and(char_length(name) <= 100 AND fraction >= 0), TRUE)
      AND count(*) = count(fraction)
      AND jsonb_typeof(composition) = 'object'
    FROM (
      SELECT key AS name, CASE WHEN jsonb_typeof(value) = 'number' THEN value::numeric END AS fraction
        FROM jsonb_each(CASE WHEN jsonb_typeof(composition) = 'object' THEN composition ELSE '{}' END)
    ) AS members
$$;
