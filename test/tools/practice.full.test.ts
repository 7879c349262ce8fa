import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createTestFolder, type Owner } from '../helpers/database/database.ts'
import type { Json } from '../helpers/service/client.ts'
import { runCommand } from '../helpers/service/commands.ts'
import { PROCESS_TOKEN, startProcess } from '../helpers/service/service-process.ts'

// The domain of a practice, from its first migration to its documents, as its author works on it: with the commands, and
// with requests to what they serve.

const TEST = `import assert from 'node:assert/strict'
import test from 'node:test'
import { type Representation, startTestService } from 'halgraph/testing'
import type { people } from './people.ts'

test('a booking that was kept has a fee', async (t) => {
  const { writer } = await startTestService(t)
  const { body: person } = await writer.post<Representation<typeof people>>('/people', { family_name: 'Lovelace' })
  const booking = { person_id: person.id, starts_at: '2031-06-01T09:00:00Z', status: 'kept' }
  assert.equal((await writer.post('/bookings', booking)).status, 422)
  assert.equal((await writer.post('/bookings', { ...booking, fee: '40.00' })).status, 201)
})
`

const releases: (() => unknown)[] = []
const owner: Owner = { teardown: (release) => void releases.push(release) }
let folder: string
let environment: NodeJS.ProcessEnv

test.before(async () => {
  folder = await createTestFolder(owner)
  await cp('test/domains/practice', folder, { recursive: true })
  await symlink(resolve('node_modules'), join(folder, 'node_modules'))
  environment = { DOMAIN: folder, DATA_DIR: join(folder, '.data'), DATABASE_TIMEOUT: '60000' }
})

test.after.always(async () => {
  for (const release of releases.reverse()) await release()
})

const run = (name: string, ...parameters: string[]) => runCommand(name, environment, ...parameters)

async function change(file: string, from: string, to: string): Promise<void> {
  const text = await readFile(join(folder, file), 'utf8')
  if (!text.includes(from)) throw new TypeError(`${file} has no ${from}`)
  await writeFile(join(folder, file), text.replace(from, to))
}

/** Serves the domain as it is, and stops when the requests are done. */
async function serving(
  t: ExecutionContext,
  work: (request: (method: string, path: string, body?: object) => Promise<Json>) => Promise<void>,
): Promise<void> {
  const service = startProcess(environment, t, [process.execPath, resolve('bin/halgraph.js'), 'start'])
  const base = `${await service.origin}/api/v1`
  await work(async (method, path, body) => {
    const headers = { Authorization: `Bearer ${PROCESS_TOKEN}`, 'Content-Type': 'application/json' }
    const sent = body && { body: JSON.stringify(body) }
    const response = await fetch(base + path, { method, headers, ...sent })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`)
    return text === '' ? {} : JSON.parse(text)
  })
  service.kill('SIGTERM')
  await service.exited
}

test.serial('the first migration is written and applied, and titles and columns are served', async (t) => {
  t.timeout(300_000)
  const { status, errors, output } = await run('resource', 'migrate')
  t.is(status, 0, errors)
  t.regex(output, /The resource people is new/)
  await serving(t, async (request) => {
    const person = { family_name: 'Lovelace', phone: '+44 20 5550 1234' }
    const { id, _links: links } = await request('POST', '/people', person)
    t.is(links.self.title, 'Lovelace, unknown')
    const booking = { person_id: id, starts_at: '2031-06-01T09:00:00Z', reason: 'Fever', fee: '9999.99' }
    await request('POST', '/bookings', booking)
    const { _links: inverse } = await request('GET', `/people/${id}`)
    t.true(inverse.treatments.href.endsWith(`/bookings?filter=person_id:${id}`))
    t.deepEqual((await request('GET', '/profile/bookings')).columns, [
      'starts_at',
      'person_id',
      'fee',
      'status',
    ])
    const { components, info } = await request('GET', '/openapi.json')
    t.like(info, { title: 'Practice', license: { name: 'CC-BY-4.0' }, contact: { name: 'Ada' } })
    t.true('BookingFields' in components.schemas)
  })
})

test.serial(
  'fifty thousand people are imported, and one of them is found by parts of the name',
  async (t) => {
    t.timeout(300_000)
    const lines = Array.from({ length: 50_000 }, (_, index) =>
      JSON.stringify({ family_name: `Name ${index}`, given_name: index === 43_210 ? 'Ⱥda' : 'Grace' }),
    )
    await writeFile(join(folder, 'people.ndjson'), lines.join('\n'))
    const imported = await run('import', 'people', join(folder, 'people.ndjson'))
    t.is(imported.output, 'Imported 50000, skipped 0, refused 0\n', imported.errors)
    await serving(t, async (request) => {
      const found = await request('GET', '/people?q=ⱥda%2043210')
      t.is(found.total_count, 1)
      t.is(found._embedded.people[0]._links.self.title, 'Name 43210, Ⱥda')
    })
  },
)

test.serial('fields are widened without a decision, and keep their values', async (t) => {
  t.timeout(300_000)
  await change('bookings.ts', 'decimal(6, 2', 'decimal(8, 3')
  await change('bookings.ts', 'maximumLength: 30', 'maximumLength: 300')
  await change('bookings.ts', "'missed']", "'missed', 'moved']")
  await change('people.ts', "born_on: date('Date of birth.')", "born_on: date('Date of birth, if known.')")
  const { status, errors } = await run('resource', 'migrate')
  t.is(status, 0, errors)
  await serving(t, async (request) => {
    const [booking] = (await request('GET', '/bookings'))._embedded.bookings
    t.like(booking, { fee: '9999.990', reason: 'Fever', status: 'planned' })
    const longer = { fee: '12345.678', reason: 'r'.repeat(300), status: 'moved' }
    const { person_id, starts_at } = booking
    await request('PUT', `/bookings/${booking.id}`, { person_id, starts_at, ...longer })
    t.like(await request('GET', `/bookings/${booking.id}`), longer)
  })
})

test.serial(
  'a narrower field is refused with the number of rows, and a renamed one keeps its values',
  async (t) => {
    t.timeout(300_000)
    await change('bookings.ts', 'maximumLength: 300', 'maximumLength: 5')
    const refused = await run('resource', 'migrate')
    t.is(refused.status, 1)
    t.regex(refused.errors, /bookings\.reason: 1 row has a value that the definition does not allow/)
    await change('bookings.ts', 'maximumLength: 5', 'maximumLength: 300')
    await change('people.ts', 'phone: text(', 'telephone: text(')
    await change('people.ts', '{ maximumLength: 20 }', "{ maximumLength: 20, renamedFrom: 'phone' }")
    const { status, errors } = await run('resource', 'migrate')
    t.is(status, 0, errors)
    await serving(t, async (request) => {
      const { _embedded: found } = await request('GET', '/people?filter=family_name:Lovelace')
      t.is(found.people[0].telephone, '+44 20 5550 1234')
    })
  },
)

test.serial('the tests and the documents of the domain are those of its definitions', async (t) => {
  t.timeout(300_000)
  await writeFile(join(folder, 'bookings.test.ts'), TEST)
  const tested = await run('test')
  t.is(tested.status, 0, tested.output + tested.errors)
  t.regex(tested.output, /^✔ a booking that was kept has a fee/m)
  const { paths, components } = JSON.parse((await run('documents', 'openapi')).output)
  t.is(paths['/api/v1/people'].get.summary, 'List the patients')
  t.true('telephone' in components.schemas.PersonFields.properties)
  t.regex((await run('documents', 'graphql')).output, /treatments\(/)
})
