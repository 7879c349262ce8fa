-- Lists of a million species in the order of any field are found in an index. The indexes that these replace are dropped
-- last, so that reads wait for a moment only.

-- The index species_classification_class_id_idx is created on ("classification_class", "id").
CREATE INDEX IF NOT EXISTS "species_classification_class_id_idx" ON "species" ("classification_class", "id");

-- The index species_classification_kingdom_id_idx is created on ("classification_kingdom", "id").
CREATE INDEX IF NOT EXISTS "species_classification_kingdom_id_idx" ON "species" ("classification_kingdom", "id");

-- The index species_intelligence_level_id_idx is created on ("intelligence_level", "id").
CREATE INDEX IF NOT EXISTS "species_intelligence_level_id_idx" ON "species" ("intelligence_level", "id");

-- The index species_discovery_status_id_idx is created on ("discovery_status", "id").
CREATE INDEX IF NOT EXISTS "species_discovery_status_id_idx" ON "species" ("discovery_status", "id");

-- The index species_classification_phylum_id_idx is created on ("classification_phylum", "id").
CREATE INDEX IF NOT EXISTS "species_classification_phylum_id_idx" ON "species" ("classification_phylum", "id");

-- The index species_bioluminescent_id_idx is created on ("bioluminescent", "id").
CREATE INDEX IF NOT EXISTS "species_bioluminescent_id_idx" ON "species" ("bioluminescent", "id");

-- The index species_last_updated_id_idx is created on ("last_updated", "id").
CREATE INDEX IF NOT EXISTS "species_last_updated_id_idx" ON "species" ("last_updated", "id");

-- The index species_intelligence_level_idx is dropped.
DROP INDEX "species_intelligence_level_idx";

-- The index species_classification_class_idx is dropped.
DROP INDEX "species_classification_class_idx";

-- The index species_classification_phylum_idx is dropped.
DROP INDEX "species_classification_phylum_idx";
