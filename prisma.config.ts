import { fileURLToPath } from 'node:url'
import { defineConfig } from 'prisma/config'

const url = process.env['DATABASE_URL']
const [, , command = '', ...parameters] = process.argv

if (command === 'studio' && !url && !parameters.some((parameter) => parameter.startsWith('--url'))) {
  console.error('Set DATABASE_URL, or run `npx halgraph studio`, which also opens the embedded database.')
  process.exit(1)
}

if (command === 'migrate' || command === 'db') {
  console.error(
    'This command downloads an engine. `npx halgraph migrate` applies migrations and `npx halgraph resource migrate` writes ' +
      'them, without one.',
  )
} else {
  // The other commands check that a schema engine exists and then never run it. Any file will do, and naming one keeps
  // them from downloading a binary, which a closed network refuses.
  process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= fileURLToPath(import.meta.url)
}

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  ...(url ? { datasource: { url } } : {}),
})
