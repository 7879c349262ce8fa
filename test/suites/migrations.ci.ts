import '../database/internal-schema.test.ts'
import '../database/migrator.test.ts'
import '../database/upgrade.test.ts'
import '../domain/key-expiry.test.ts'
