import { fileURLToPath } from 'node:url'
import { defineConfig } from 'prisma-cli/config'

// `prisma generate` checks that a schema engine exists and then never runs it. Any file will do, and
// naming one keeps the command from downloading a binary, which a closed network refuses.
if (process.argv.includes('generate')) {
  process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= fileURLToPath(import.meta.url)
}

const url = process.env['DATABASE_URL']

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  ...(url ? { datasource: { url } } : {}),
})
