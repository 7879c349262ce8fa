// @ts-check
// What `npx ava --config ava.postgresql.config.js` runs: the tests whose result depends on the database. The others
// have passed on the embedded one.
import config from './ava.config.js'

/** They use no database, or start their own, or a server wherever they run; or they test commands. */
const INDEPENDENT = [
  'test/suites/{commands,documents,graph-protocol,http,http-service,model,operations,restricted-engine,service,tools,transfer}.ts',
  'test/{commands,pages,tools}/**',
  'test/**/*.full.test.ts',
  'test/database/{database,embedded-sessions,statements}.test.ts',
  'test/features/load/{limits,load}.test.ts',
  'test/operations/**',
  'test/service/main.test.ts',
]

export default { ...config, files: [...config.files, ...INDEPENDENT.map((pattern) => `!${pattern}`)] }
