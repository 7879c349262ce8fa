-- The first answer to each request that came with an Idempotency-Key.

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "subject" TEXT COLLATE "C" NOT NULL,
    "collection" TEXT COLLATE "C" NOT NULL,
    "parent_id" TEXT COLLATE "C" NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL,
    "request_hash" TEXT COLLATE "C" NOT NULL,
    "answer" JSONB,
    "created_date" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("subject","collection","parent_id","key")
);

-- CreateIndex
CREATE INDEX "idempotency_keys_created_date_idx" ON "idempotency_keys"("created_date");
