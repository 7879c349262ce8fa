// @ts-check
// What `npx ava --config ava.restricted.config.js` runs: the tests whose result depends on the database, on a PostgreSQL
// server (TEST_DATABASE_URL) that lacks what a distributed engine lacks.
import config from './ava.postgresql.config.js'

/**
 * They have engines of their own, or run the history of migrations, which begins with what the engine refuses: also those
 * that make domains, which have no baseline.
 */
const INDEPENDENT = [
  'test/suites/{migrations,restricted-engine}.ts',
  'test/restricted-engine/**',
  'test/access/{fields-oracle,oracle}.test.ts',
  'test/domains/{outliers,venue,workshop}.test.ts',
]

export default {
  ...config,
  files: [...config.files, ...INDEPENDENT.map((pattern) => `!${pattern}`)],
  // The first, because modules that are loaded later connect to TEST_DATABASE_URL.
  require: ['./test/dist/restricted-engine/start.js', ...config.require],
}
