import { readdir, readFile } from 'node:fs/promises'
import test from 'ava'

/** Why the handwritten statements of a file need no access of a caller. All other reads of rows require one. */
const REASONS: Readonly<Record<string, string>> = {
  'commands/doctor/buried.ts': 'commands of the operator see all rows',
  'commands/doctor/derived.ts': 'commands of the operator see all rows',
  'commands/doctor/parts.ts': 'commands of the operator see all rows',
  'commands/doctor/tables.ts': 'reads the catalogue of the database',
  'commands/doctor/uniqueness.ts': 'commands of the operator see all rows',
  'database/database.ts': 'reads the catalogue of the database',
  'database/database-client.ts':
    'sends the statements of lists and aggregates, whose requests need access, and writes',
  'database/referred.ts': 'reads what a rule of access compares',
  'database/replicas/replica-watch.ts': 'reads positions in the write-ahead log',
  'domain/create-together.ts': 'identifiers are facts of the collection; callers with limits do not get here',
  'domain/dependents.ts': 'dependencies are facts of the whole collection',
  'domain/idempotency.ts': 'keys belong to one caller, and what they answer is checked by access',
  'domain/lower-case.ts': 'reads no rows',
  'domain/read.ts': 'whether a row was deleted, and its last state, which is checked by access',
  'domain/recording.ts': 'sets what is recorded',
  'domain/resources/crew-rules.ts': 'a rule of the domain, which sees all rows',
  'domain/resources/planet-origin.ts': 'a rule of the domain, which sees all rows',
  'domain/rules.ts':
    'unique values are facts of the collection; the row is named only to callers that may read it',
  'domain/transaction.ts': 'names the author',
  'domain/write-order.ts': 'locks rows, and not those of a resource with rules of access',
  'features/history/feed/read-feed.ts': 'recorded states, each of which is checked by access',
  'features/history/feed/readable-changes.ts': 'recorded states, each of which is checked by access',
  'features/history/feed/upkeep.ts': 'numbers changes',
  'features/history/feed/versions.ts': 'recorded states, each of which is checked by access',
  'features/load/table-sizes.ts': 'reads the sizes of tables',
  'model/definition/database-rule.ts': 'declares what rules of a domain can send',
  'model/definition/resource.ts': 'an example in a comment',
  'service/namespaces/known-names.ts':
    'reads the names of namespaces, which are listed by the claim of the token',
}

test('each file with handwritten statements has a reason to need no access of a caller', async (t) => {
  const paths = await readdir('src', { recursive: true })
  const sources = paths.filter((path) => path.endsWith('.ts') && !path.startsWith('database/generated'))
  const texts = await Promise.all(sources.map((path) => readFile(`src/${path}`, 'utf8')))
  const sending = sources.filter((_, index) => /\$rows|\$queryRaw|\$executeRaw/.test(texts[index] as string))
  t.deepEqual(sending.sort(), Object.keys(REASONS).sort())
})
