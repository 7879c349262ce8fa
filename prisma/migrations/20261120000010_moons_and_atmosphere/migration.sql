-- Moons and atmospheres, which belong to planets.

-- CreateTable
CREATE TABLE "moons" (
    "planet_id" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "radius_kilometres" DOUBLE PRECISION,
    "orbital_period_days" DOUBLE PRECISION,
    "tidally_locked" BOOLEAN,
    "created_date" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "last_updated" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "moons_pkey" PRIMARY KEY ("planet_id","id")
);

-- CreateTable
CREATE TABLE "atmosphere" (
    "planet_id" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "surface_pressure_kilopascals" DOUBLE PRECISION,
    "breathable" BOOLEAN,
    "dominant_gas" TEXT COLLATE "C",
    "composition" JSONB,
    "created_date" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "last_updated" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "atmosphere_pkey" PRIMARY KEY ("planet_id","id")
);

-- CreateIndex
CREATE INDEX "moons_planet_id_created_date_id_idx" ON "moons"("planet_id", "created_date", "id");

-- CreateIndex
CREATE UNIQUE INDEX "atmosphere_planet_id_key" ON "atmosphere"("planet_id");

-- AddForeignKey
ALTER TABLE "moons" ADD CONSTRAINT "moons_planet_id_fkey" FOREIGN KEY ("planet_id") REFERENCES "planets"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "atmosphere" ADD CONSTRAINT "atmosphere_planet_id_fkey" FOREIGN KEY ("planet_id") REFERENCES "planets"("id") ON DELETE CASCADE ON UPDATE CASCADE;

SELECT serve_resource('moons', 'planet_id');
SELECT serve_resource('atmosphere', 'planet_id');

ALTER TABLE "moons"
  ADD CONSTRAINT "moons_name_check" CHECK (btrim("name") <> ''),
  ADD CONSTRAINT "moons_radius_kilometres_check" CHECK ("radius_kilometres" >= 0 AND "radius_kilometres" < 'Infinity'),
  ADD CONSTRAINT "moons_orbital_period_days_check"
    CHECK ("orbital_period_days" >= 0 AND "orbital_period_days" < 'Infinity'),
  ADD CONSTRAINT "moons_dates_check" CHECK (isfinite("created_date") AND isfinite("last_updated"));

ALTER TABLE "atmosphere"
  ADD CONSTRAINT "atmosphere_one_for_each_planet_check" CHECK ("id" = "planet_id"),
  ADD CONSTRAINT "atmosphere_surface_pressure_kilopascals_check"
    CHECK ("surface_pressure_kilopascals" >= 0 AND "surface_pressure_kilopascals" < 'Infinity'),
  ADD CONSTRAINT "atmosphere_composition_check" CHECK (jsonb_typeof("composition") = 'object'),
  ADD CONSTRAINT "atmosphere_dates_check" CHECK (isfinite("created_date") AND isfinite("last_updated"));
