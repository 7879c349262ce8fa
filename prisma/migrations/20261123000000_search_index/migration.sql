-- The index species_search_idx is created on all texts, for searches.
DO $index$ BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  EXECUTE format($create$CREATE INDEX "species_search_idx" ON "species" USING gin (((COALESCE("scientific_name", '') || ' ' || COALESCE("common_name", '') || ' ' || COALESCE("classification_kingdom", '') || ' ' || COALESCE("classification_class", '') || ' ' || COALESCE("classification_phylum", '') || ' ' || COALESCE("habitat", '') || ' ' || COALESCE("planet_origin", '') || ' ' || COALESCE("intelligence_level", '') || ' ' || COALESCE("discovery_status", '')) COLLATE "default") %s.gin_trgm_ops)$create$,
    (SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = 'pg_trgm'));
EXCEPTION WHEN feature_not_supported OR undefined_file OR insufficient_privilege THEN
  RAISE WARNING 'Without pg_trgm, there is no index species_search_idx: searches read every row. %', SQLERRM;
END $index$;
