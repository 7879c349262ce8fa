-- A blank origin names no planet. If several have the name, because they had it before it counted as the same, it is the one
-- that is spelled like the origin.
CREATE OR REPLACE FUNCTION planet_of_origin(origin text) RETURNS text LANGUAGE sql STABLE STRICT AS $$
  SELECT id FROM planets WHERE (id = origin OR folded(name) = folded(origin)) AND NOT is_blank(origin)
    ORDER BY id = origin DESC, name = origin DESC, id LIMIT 1
$$;

CREATE OR REPLACE FUNCTION inconsistent_references() RETURNS TABLE (collection text, id text) LANGUAGE sql STABLE AS $$
  SELECT 'species', species.id FROM species
  WHERE CASE WHEN planet_id IS NULL THEN planet_of_origin(planet_origin) IS NOT NULL
    ELSE is_blank(COALESCE(planet_origin, '')) END
$$;
