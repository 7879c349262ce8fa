-- In PL/pgSQL, because Citus puts no function in SQL into a statement about tables on another node.
CREATE OR REPLACE FUNCTION inconsistent_references() RETURNS TABLE (collection text, id text) LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY SELECT 'species', species.id FROM species
    WHERE CASE WHEN planet_id IS NULL THEN planet_of_origin(planet_origin) IS NOT NULL
      ELSE is_blank(COALESCE(planet_origin, '')) END;
END $$;
