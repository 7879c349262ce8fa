-- Spacecraft.

-- CreateTable
CREATE TABLE "spacecraft" (
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "kind" TEXT COLLATE "C" NOT NULL,
    "crew_capacity" INTEGER,
    "dry_mass_kilograms" DOUBLE PRECISION,
    "launched_date" TIMESTAMPTZ(3),
    "created_date" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "last_updated" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "spacecraft_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "spacecraft_created_date_id_idx" ON "spacecraft"("created_date", "id");

SELECT serve_resource('spacecraft');

CREATE UNIQUE INDEX "spacecraft_name_key" ON "spacecraft" (folded("name"));

ALTER TABLE "spacecraft"
  ADD CONSTRAINT "spacecraft_name_check" CHECK (btrim("name") <> ''),
  ADD CONSTRAINT "spacecraft_kind_check" CHECK ("kind" IN ('orbiter', 'lander', 'rover', 'capsule', 'station')),
  ADD CONSTRAINT "spacecraft_crew_capacity_check" CHECK ("crew_capacity" >= 0),
  ADD CONSTRAINT "spacecraft_dry_mass_kilograms_check"
    CHECK ("dry_mass_kilograms" >= 0 AND "dry_mass_kilograms" < 'Infinity'),
  ADD CONSTRAINT "spacecraft_dates_check"
    CHECK (isfinite("launched_date") AND isfinite("created_date") AND isfinite("last_updated"));
