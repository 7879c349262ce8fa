-- A row can be added in the database without its initial values.

ALTER TABLE "species" ALTER COLUMN "discovery_status" SET DEFAULT 'newly_catalogued'::text;
ALTER TABLE "missions" ALTER COLUMN "status" SET DEFAULT 'planned'::text;
