-- Species and planets, the tombstones of what was deleted, and what must hold whoever writes.
--
-- Text is COLLATE "C": sorted by code point, so that an order, and with it a page, is the same on every
-- database and survives an upgrade of the operating system's collations.

-- CreateTable
CREATE TABLE "species" (
    "id" TEXT COLLATE "C" NOT NULL,
    "scientific_name" TEXT COLLATE "C" NOT NULL,
    "common_name" TEXT COLLATE "C",
    "classification_kingdom" TEXT COLLATE "C",
    "classification_class" TEXT COLLATE "C",
    "classification_phylum" TEXT COLLATE "C",
    "habitat" TEXT COLLATE "C",
    "planet_origin" TEXT COLLATE "C",
    "planet_id" TEXT COLLATE "C",
    "temperature_range_min_celsius" DOUBLE PRECISION,
    "temperature_range_max_celsius" DOUBLE PRECISION,
    "bioluminescent" BOOLEAN,
    "intelligence_level" TEXT COLLATE "C",
    "discovery_status" TEXT COLLATE "C" NOT NULL,
    "discovered_date" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "last_updated" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "species_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "planets" (
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "host_star" TEXT COLLATE "C",
    "distance_parsecs" DOUBLE PRECISION,
    "mass_jupiters" DOUBLE PRECISION,
    "radius_jupiters" DOUBLE PRECISION,
    "orbital_period_days" DOUBLE PRECISION,
    "semi_major_axis_au" DOUBLE PRECISION,
    "equilibrium_temperature_kelvin" DOUBLE PRECISION,
    "discovery_method" TEXT COLLATE "C",
    "discovery_year" INTEGER,
    "habitable" BOOLEAN,
    "created_date" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "last_updated" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "planets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tombstones" (
    "collection" TEXT COLLATE "C" NOT NULL,
    "parent_id" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "version" INTEGER NOT NULL,
    "deleted_date" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),

    CONSTRAINT "tombstones_pkey" PRIMARY KEY ("collection","parent_id","id")
);

-- CreateIndex
CREATE INDEX "species_discovered_date_id_idx" ON "species"("discovered_date", "id");

-- CreateIndex
CREATE INDEX "species_planet_id_idx" ON "species"("planet_id");

-- CreateIndex
CREATE INDEX "planets_created_date_id_idx" ON "planets"("created_date", "id");

-- AddForeignKey
ALTER TABLE "species" ADD CONSTRAINT "species_planet_id_fkey" FOREIGN KEY ("planet_id") REFERENCES "planets"("id") ON DELETE RESTRICT ON UPDATE CASCADE;


-- A name is taken whatever its case and the blanks around it. lower() needs the database's own
-- collation here: under "C" it would fold ASCII only.
CREATE FUNCTION folded(name text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
  $$ SELECT lower(btrim(name, E' \t\n\x0B\f\r') COLLATE "default") $$;

CREATE UNIQUE INDEX "species_scientific_name_key" ON "species" (folded("scientific_name"));
CREATE UNIQUE INDEX "planets_name_key" ON "planets" (folded("name"));

-- The ranges that the definitions state, repeated for whoever writes past them.
ALTER TABLE "species"
  ADD CONSTRAINT "species_scientific_name_check" CHECK (btrim("scientific_name") <> ''),
  ADD CONSTRAINT "species_temperature_range_order_check"
    CHECK ("temperature_range_min_celsius" <= "temperature_range_max_celsius"),
  ADD CONSTRAINT "species_temperature_range_min_celsius_check"
    CHECK ("temperature_range_min_celsius" >= -273.15 AND "temperature_range_min_celsius" < 'Infinity'),
  ADD CONSTRAINT "species_temperature_range_max_celsius_check"
    CHECK ("temperature_range_max_celsius" >= -273.15 AND "temperature_range_max_celsius" < 'Infinity'),
  ADD CONSTRAINT "species_dates_check" CHECK (isfinite("discovered_date") AND isfinite("last_updated"));

ALTER TABLE "planets"
  ADD CONSTRAINT "planets_name_check" CHECK (btrim("name") <> ''),
  ADD CONSTRAINT "planets_distance_parsecs_check" CHECK ("distance_parsecs" >= 0 AND "distance_parsecs" < 'Infinity'),
  ADD CONSTRAINT "planets_mass_jupiters_check" CHECK ("mass_jupiters" >= 0 AND "mass_jupiters" < 'Infinity'),
  ADD CONSTRAINT "planets_radius_jupiters_check" CHECK ("radius_jupiters" >= 0 AND "radius_jupiters" < 'Infinity'),
  ADD CONSTRAINT "planets_orbital_period_days_check"
    CHECK ("orbital_period_days" >= 0 AND "orbital_period_days" < 'Infinity'),
  ADD CONSTRAINT "planets_semi_major_axis_au_check"
    CHECK ("semi_major_axis_au" >= 0 AND "semi_major_axis_au" < 'Infinity'),
  ADD CONSTRAINT "planets_equilibrium_temperature_kelvin_check"
    CHECK ("equilibrium_temperature_kelvin" >= 0 AND "equilibrium_temperature_kelvin" < 'Infinity'),
  ADD CONSTRAINT "planets_dates_check" CHECK (isfinite("created_date") AND isfinite("last_updated"));

-- The version of a resource starts at 1, goes up by one with each real change, and goes on where it
-- stopped when a deleted resource is created again: no entity tag ever comes back with other content.
-- Each table passes its collection, and the column of its parent where it has one.

CREATE FUNCTION resource_parent_id(resource jsonb, parent_column text) RETURNS text
  LANGUAGE sql IMMUTABLE AS $$ SELECT COALESCE(resource ->> parent_column, '') $$;

CREATE FUNCTION resource_before_insert() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  buried integer;
  parent text := '';
BEGIN
  IF TG_NARGS > 1 THEN
    parent := resource_parent_id(to_jsonb(NEW), TG_ARGV[1]);
  END IF;
  SELECT version INTO buried FROM tombstones
    WHERE collection = TG_ARGV[0] AND parent_id = parent AND id = NEW.id;
  NEW.version := COALESCE(buried, 0) + 1;
  RETURN NEW;
END $$;

-- Only once the row is really there: a conflicting insert that does nothing must leave the tombstone. One that
-- had to wait for a deletion to end finds a tombstone which it could not see when it took its version; it
-- fails, so that whoever asked for it asks again, and no version is given twice.
CREATE FUNCTION resource_after_insert() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  parent text := '';
  buried integer;
BEGIN
  IF TG_NARGS > 1 THEN
    parent := resource_parent_id(to_jsonb(NEW), TG_ARGV[1]);
  END IF;
  DELETE FROM tombstones WHERE collection = TG_ARGV[0] AND parent_id = parent AND id = NEW.id
    RETURNING version INTO buried;
  IF buried >= NEW.version THEN
    RAISE EXCEPTION 'it was being deleted while it was created' USING ERRCODE = 'serialization_failure';
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION resource_before_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.id <> OLD.id OR (TG_NARGS > 1 AND resource_parent_id(to_jsonb(NEW), TG_ARGV[1])
      <> resource_parent_id(to_jsonb(OLD), TG_ARGV[1])) THEN
    RAISE EXCEPTION 'an identifier is immutable' USING ERRCODE = 'restrict_violation';
  END IF;
  NEW.version := OLD.version;
  NEW.last_updated := OLD.last_updated;
  IF NEW IS DISTINCT FROM OLD THEN
    NEW.version := OLD.version + 1;
    NEW.last_updated := GREATEST(clock_timestamp(), OLD.last_updated);
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION resource_after_delete() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  parent text := '';
BEGIN
  IF TG_NARGS > 1 THEN
    parent := resource_parent_id(to_jsonb(OLD), TG_ARGV[1]);
  END IF;
  INSERT INTO tombstones (collection, parent_id, id, version)
    VALUES (TG_ARGV[0], parent, OLD.id, OLD.version)
    ON CONFLICT (collection, parent_id, id)
    DO UPDATE SET version = EXCLUDED.version, deleted_date = EXCLUDED.deleted_date;
  RETURN NULL;
END $$;

-- Puts a table under these rules. Its collection is named as the table is, with hyphens; a resource
-- that has a parent is also known by the column that holds the parent's identifier.
CREATE FUNCTION serve_resource(resource_table text, parent_column text DEFAULT NULL) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  collection text := replace(resource_table, '_', '-');
  identity text := quote_literal(collection) || COALESCE(', ' || quote_literal(parent_column), '');
BEGIN
  EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK (id ~ ''^[A-Za-z0-9._~-]{1,64}$'' AND id NOT IN (''.'', ''..''))',
    resource_table, resource_table || '_id_check');
  EXECUTE format('CREATE TRIGGER %I BEFORE INSERT ON %I FOR EACH ROW EXECUTE FUNCTION resource_before_insert(%s)',
    resource_table || '_before_insert', resource_table, identity);
  EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON %I FOR EACH ROW
    EXECUTE FUNCTION resource_after_insert(%s)',
    resource_table || '_after_insert', resource_table, identity);
  EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE ON %I FOR EACH ROW EXECUTE FUNCTION resource_before_update(%s)',
    resource_table || '_before_update', resource_table, identity);
  EXECUTE format('CREATE TRIGGER %I AFTER DELETE ON %I FOR EACH ROW EXECUTE FUNCTION resource_after_delete(%s)',
    resource_table || '_after_delete', resource_table, identity);
END $$;

SELECT serve_resource('species');
SELECT serve_resource('planets');
