-- A fraction must be a double: JSONB holds larger numbers, which the service would read as infinite.

CREATE OR REPLACE FUNCTION are_fractions(composition jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT count(*) <= 100
      AND COALESCE(bool_and(char_length(name) <= 100 AND fraction BETWEEN 0 AND 1.7976931348623157e308), TRUE)
      AND count(*) = count(fraction)
      AND jsonb_typeof(composition) = 'object'
    FROM (
      SELECT key AS name, CASE WHEN jsonb_typeof(value) = 'number' THEN value::numeric END AS fraction
        FROM jsonb_each(CASE WHEN jsonb_typeof(composition) = 'object' THEN composition ELSE '{}' END)
    ) AS members
$$;
