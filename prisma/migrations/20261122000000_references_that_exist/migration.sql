-- The species without a reference although their origin names a planet, and those with one although it is empty. Any other
-- reference may be right: it stays when its planet is renamed, and when another planet gets the name or identifier.
CREATE OR REPLACE FUNCTION inconsistent_references() RETURNS TABLE (collection text, id text) LANGUAGE sql STABLE AS $$
  SELECT 'species', species.id FROM species
  WHERE CASE WHEN planet_id IS NULL THEN planet_of_origin(planet_origin) IS NOT NULL
    ELSE COALESCE(planet_origin, '') !~ '\S' END
$$;
