-- Missions with their crews and data, astronauts with their training records.

-- CreateTable
CREATE TABLE "missions" (
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "objective" TEXT COLLATE "C",
    "status" TEXT COLLATE "C" NOT NULL,
    "launch_date" TIMESTAMPTZ(3),
    "destination_planet_id" TEXT COLLATE "C",
    "spacecraft_id" TEXT COLLATE "C",
    "created_date" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "last_updated" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "missions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "crew" (
    "mission_id" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "astronaut_id" TEXT COLLATE "C" NOT NULL,
    "role" TEXT COLLATE "C" NOT NULL,
    "created_date" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "last_updated" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "crew_pkey" PRIMARY KEY ("mission_id","id")
);

-- CreateTable
CREATE TABLE "data" (
    "mission_id" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "instrument" TEXT COLLATE "C" NOT NULL,
    "recorded_at" TIMESTAMPTZ(3) NOT NULL,
    "quantity" TEXT COLLATE "C" NOT NULL,
    "value" DOUBLE PRECISION NOT NULL,
    "unit" TEXT COLLATE "C",
    "created_date" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "last_updated" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "data_pkey" PRIMARY KEY ("mission_id","id")
);

-- CreateTable
CREATE TABLE "astronauts" (
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "call_sign" TEXT COLLATE "C",
    "rank" TEXT COLLATE "C",
    "current_mission_id" TEXT COLLATE "C",
    "created_date" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "last_updated" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "astronauts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "training_records" (
    "astronaut_id" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "course" TEXT COLLATE "C" NOT NULL,
    "completed_date" TIMESTAMPTZ(3) NOT NULL,
    "score" DOUBLE PRECISION,
    "instructor" TEXT COLLATE "C",
    "expires_date" TIMESTAMPTZ(3),
    "created_date" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "last_updated" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "training_records_pkey" PRIMARY KEY ("astronaut_id","id")
);

-- CreateIndex
CREATE INDEX "missions_created_date_id_idx" ON "missions"("created_date", "id");

-- CreateIndex
CREATE INDEX "missions_destination_planet_id_idx" ON "missions"("destination_planet_id");

-- CreateIndex
CREATE INDEX "missions_spacecraft_id_idx" ON "missions"("spacecraft_id");

-- CreateIndex
CREATE INDEX "crew_mission_id_created_date_id_idx" ON "crew"("mission_id", "created_date", "id");

-- CreateIndex
CREATE INDEX "crew_astronaut_id_idx" ON "crew"("astronaut_id");

-- CreateIndex
CREATE UNIQUE INDEX "crew_mission_id_astronaut_id_key" ON "crew"("mission_id", "astronaut_id");

-- CreateIndex
CREATE INDEX "data_mission_id_created_date_id_idx" ON "data"("mission_id", "created_date", "id");

-- CreateIndex
CREATE INDEX "astronauts_created_date_id_idx" ON "astronauts"("created_date", "id");

-- CreateIndex
CREATE INDEX "astronauts_current_mission_id_idx" ON "astronauts"("current_mission_id");

-- CreateIndex
CREATE INDEX "training_records_astronaut_id_created_date_id_idx" ON "training_records"("astronaut_id", "created_date", "id");

-- AddForeignKey
ALTER TABLE "missions" ADD CONSTRAINT "missions_destination_planet_id_fkey" FOREIGN KEY ("destination_planet_id") REFERENCES "planets"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "missions" ADD CONSTRAINT "missions_spacecraft_id_fkey" FOREIGN KEY ("spacecraft_id") REFERENCES "spacecraft"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "crew" ADD CONSTRAINT "crew_mission_id_fkey" FOREIGN KEY ("mission_id") REFERENCES "missions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "crew" ADD CONSTRAINT "crew_astronaut_id_fkey" FOREIGN KEY ("astronaut_id") REFERENCES "astronauts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "data" ADD CONSTRAINT "data_mission_id_fkey" FOREIGN KEY ("mission_id") REFERENCES "missions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "astronauts" ADD CONSTRAINT "astronauts_current_mission_id_fkey" FOREIGN KEY ("current_mission_id") REFERENCES "missions"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "training_records" ADD CONSTRAINT "training_records_astronaut_id_fkey" FOREIGN KEY ("astronaut_id") REFERENCES "astronauts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

SELECT serve_resource('missions');
SELECT serve_resource('crew', 'mission_id');
SELECT serve_resource('data', 'mission_id');
SELECT serve_resource('astronauts');
SELECT serve_resource('training_records', 'astronaut_id');

CREATE UNIQUE INDEX "missions_name_key" ON "missions" (folded("name"));
CREATE UNIQUE INDEX "astronauts_call_sign_key" ON "astronauts" (folded("call_sign"));

ALTER TABLE "missions"
  ADD CONSTRAINT "missions_name_check" CHECK (btrim("name") <> ''),
  ADD CONSTRAINT "missions_status_check" CHECK ("status" IN ('planned', 'active', 'completed', 'aborted')),
  ADD CONSTRAINT "missions_dates_check"
    CHECK (isfinite("launch_date") AND isfinite("created_date") AND isfinite("last_updated"));

ALTER TABLE "crew"
  ADD CONSTRAINT "crew_role_check" CHECK (btrim("role") <> ''),
  ADD CONSTRAINT "crew_dates_check" CHECK (isfinite("created_date") AND isfinite("last_updated"));

ALTER TABLE "data"
  ADD CONSTRAINT "data_instrument_check" CHECK (btrim("instrument") <> ''),
  ADD CONSTRAINT "data_quantity_check" CHECK (btrim("quantity") <> ''),
  ADD CONSTRAINT "data_value_check" CHECK ("value" > '-Infinity' AND "value" < 'Infinity'),
  ADD CONSTRAINT "data_dates_check"
    CHECK (isfinite("recorded_at") AND isfinite("created_date") AND isfinite("last_updated"));

ALTER TABLE "astronauts"
  ADD CONSTRAINT "astronauts_name_check" CHECK (btrim("name") <> ''),
  ADD CONSTRAINT "astronauts_dates_check" CHECK (isfinite("created_date") AND isfinite("last_updated"));

ALTER TABLE "training_records"
  ADD CONSTRAINT "training_records_course_check" CHECK (btrim("course") <> ''),
  ADD CONSTRAINT "training_records_score_check" CHECK ("score" BETWEEN 0 AND 100),
  ADD CONSTRAINT "training_records_dates_check" CHECK (isfinite("completed_date") AND isfinite("expires_date")
    AND isfinite("created_date") AND isfinite("last_updated"));

-- The mission an astronaut is on is derived, whoever writes: the open one whose crew they are in.

CREATE FUNCTION is_open_mission(mission text) RETURNS boolean LANGUAGE sql STABLE AS
  $$ SELECT EXISTS (SELECT 1 FROM missions WHERE id = mission AND status IN ('planned', 'active')) $$;

CREATE FUNCTION crew_joined() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF is_open_mission(NEW.mission_id) THEN
    UPDATE astronauts SET current_mission_id = NEW.mission_id
      WHERE id = NEW.astronaut_id AND COALESCE(current_mission_id, NEW.mission_id) = NEW.mission_id;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the astronaut is on another open mission' USING ERRCODE = 'check_violation';
    END IF;
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION crew_left() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE astronauts SET current_mission_id = NULL
    WHERE id = OLD.astronaut_id AND current_mission_id = OLD.mission_id;
  RETURN NULL;
END $$;

CREATE FUNCTION mission_closed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE astronauts SET current_mission_id = NULL WHERE current_mission_id = NEW.id;
  RETURN NULL;
END $$;

CREATE TRIGGER "crew_joined" AFTER INSERT ON "crew" FOR EACH ROW EXECUTE FUNCTION crew_joined();
CREATE TRIGGER "crew_left" AFTER DELETE ON "crew" FOR EACH ROW EXECUTE FUNCTION crew_left();
-- Fired in the order of their names: the one who leaves does so before the other joins.
CREATE TRIGGER "crew_swapped_1_left" AFTER UPDATE ON "crew" FOR EACH ROW
  WHEN (NEW.astronaut_id <> OLD.astronaut_id) EXECUTE FUNCTION crew_left();
CREATE TRIGGER "crew_swapped_2_joined" AFTER UPDATE ON "crew" FOR EACH ROW
  WHEN (NEW.astronaut_id <> OLD.astronaut_id) EXECUTE FUNCTION crew_joined();
CREATE TRIGGER "missions_closed" AFTER UPDATE ON "missions" FOR EACH ROW
  WHEN (NEW.status <> OLD.status AND NEW.status IN ('completed', 'aborted')) EXECUTE FUNCTION mission_closed();
