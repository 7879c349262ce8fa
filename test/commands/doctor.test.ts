import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { referenceProblems } from '../../src/commands/doctor/derived.ts'
import type { DatabaseClient } from '../../src/database/database-client.ts'
import {
  createEmbedded,
  createServerDatabase,
  createTestFolder,
  openTestDatabase,
} from '../helpers/database/database.ts'
import { findServer } from '../helpers/database/postgres-server.ts'
import { createSetup, runCommand as run, runIn, startCommand as start } from '../helpers/service/commands.ts'

const server = findServer((reason) => console.log(`claims about a server: ${reason}`))

test('doctor and the start warn of a key set without an audience, which is no failure', async (t) => {
  const { environment } = await createSetup(t, { isOpen: false })
  const variables = {
    ...environment,
    JWT_JWKS_URL: 'https://id.example.org/keys',
    HOST: '127.0.0.1',
    PORT: '0',
  }
  const { output, status } = await run('doctor', variables)
  t.is(status, 0, output)
  t.regex(output, /^warn {2}JWT_AUDIENCE is not set: tokens that/m)
  t.regex((await run('doctor', variables, '--json')).output, /"ok":true.*"warnings":\["JWT_AUDIENCE is/)
  t.notRegex((await run('doctor', { ...variables, JWT_AUDIENCE: 'halgraph' })).output, /warn/)
  const service = start('start', variables)
  for await (const line of createInterface({ input: service.stdout }))
    if (line.includes('JWT_AUDIENCE is not set')) break
  service.kill('SIGTERM')
  await once(service, 'exit')
})

test('doctor says why the metadata of an issuer cannot be read', async (t) => {
  const { environment } = await createSetup(t, { isOpen: false })
  const { origin } = new URL('http://127.0.0.1:9')
  const variables = { ...environment, JWT_SECRET: '', OIDC_ISSUER: origin, OIDC_CLIENT_ID: 'pages' }
  const { output, status } = await run('doctor', variables)
  t.is(status, 1, output)
  t.regex(output, /FAIL {2}metadata of OIDC_ISSUER\n +OIDC_ISSUER: cannot read the metadata at http.*: /)
  t.regex(output, /^ok {4}database$/m, 'the other checks follow')
})

test('doctor reports unique texts that became equal, and completes their index when they differ again', async (t) => {
  const setup = await createSetup(t)
  await setup.use(async ({ client }) => {
    await client.prisma.$executeRaw`DROP INDEX planets_name_key`
    const planets = { c: 'Io', a: 'Mars', b: 'mars\u00a0', d: '\u2800io' }
    for (const [id, name] of Object.entries(planets))
      await client.prisma.planet.create({ data: { id, name } })
    await client.prisma
      .$executeRaw`CREATE UNIQUE INDEX planets_name_key ON planets (folded(name)) WHERE id < 'b'`
    await client.prisma.$executeRaw`CREATE INDEX planets_name_key_all ON planets (folded(name))`
  })
  const repaired = await run('doctor', setup.environment, '--repair')
  t.regex(
    repaired.output,
    /FAIL {2}unique texts\n +planets.name: a, b are equal; c, d are equal; change or delete all but one, and then run npx halgraph doctor --repair/,
  )
  await setup.use(async ({ client }) => {
    for (const name of ['MARS', 'Io\u200b'])
      await t.throwsAsync(client.prisma.planet.create({ data: { id: 'e', name } }), {
        message: /Unique constraint/,
      })
    await client.prisma.$executeRaw`UPDATE planets SET name = id WHERE id IN ('b', 'd')`
  })
  t.regex((await run('doctor', setup.environment)).output, /planets.name: none are equal any more; run/)
  const { output, status } = await run('doctor', setup.environment, '--repair')
  t.is(status, 0, output)
  t.regex(output, /built planets_name_key again\nok/)
  await setup.use(async ({ client }) => {
    const rows = await client.prisma
      .$queryRaw`SELECT indexdef FROM pg_indexes WHERE indexname LIKE 'planets_name%'`
    t.deepEqual(rows, [
      { indexdef: 'CREATE UNIQUE INDEX planets_name_key ON public.planets USING btree (folded(name))' },
    ])
  })
})

test('doctor reports and adds missing references, removes those of an empty origin, and moves none', async (t) => {
  const setup = await createSetup(t)
  const references = () =>
    setup.use(async ({ client }) =>
      (await client.prisma.species.findMany({ orderBy: { id: 'asc' } })).map(
        ({ id, planet_id, version }) => `${id} ${planet_id} ${version}`,
      ),
    )
  await setup.use(async ({ client }) => {
    const planets = ['renamed', 'older', 'here'].map((id) => ({ id, name: id }))
    await client.prisma.planet.createMany({ data: planets })
    const species = ['renamed', 'older', 'here', ' '].map((planet_origin, number) => ({
      id: `s${number}`,
      scientific_name: `S ${number}`,
      planet_origin,
      discovery_status: 'confirmed' as const,
    }))
    await client.prisma.species.createMany({ data: species })
    await client.prisma.planet.update({ where: { id: 'renamed' }, data: { name: 'Other' } })
    await client.prisma.$executeRaw`UPDATE species SET planet_origin = 'Other' WHERE id = 's0'`
    await client.prisma.planet.update({ where: { id: 'renamed' }, data: { name: 'Third' } })
    await client.prisma.planet.create({ data: { id: 'renamed-2', name: 'Other' } })
    await client.prisma.$executeRaw`UPDATE species SET planet_origin = 'OLDER' WHERE id = 's1'`
    await client.prisma.planet.create({ data: { id: 'OLDER', name: 'Unlike' } })
    await client.prisma.$executeRaw`ALTER TABLE species DISABLE TRIGGER species_1_origin_update`
    await client.prisma.$executeRaw`UPDATE species SET planet_id = CASE id WHEN 's3' THEN 'here' END
      WHERE id IN ('s2', 's3')`
    await client.prisma.$executeRaw`ALTER TABLE species ENABLE TRIGGER species_1_origin_update`
  })
  t.deepEqual(await references(), ['s0 renamed 2', 's1 older 2', 's2 null 2', 's3 here 2'])
  const found = await run('doctor', setup.environment)
  t.is(found.status, 1)
  t.regex(found.output, /FAIL {2}references\n +species\/s2, species\/s3; run npx halgraph doctor --repair/)
  const repaired = await run('doctor', setup.environment, '--repair')
  t.is(repaired.status, 0, repaired.output)
  t.regex(repaired.output, /corrected 2 references/)
  t.deepEqual(await references(), ['s0 renamed 2', 's1 older 2', 's2 here 3', 's3 null 3'])
})

test('doctor names at most twenty resources with wrong references, and says how many more there are', async (t) => {
  const problemsOf = async (count: number) => {
    const rows = Array.from({ length: count }, (_, index) => ({ collection: 'species', id: `s${index}` }))
    return (await referenceProblems({ $rows: async () => rows } as unknown as DatabaseClient)).join()
  }
  t.is(await problemsOf(0), '')
  t.regex(await problemsOf(20), /^species\/s0, .*species\/s19; run /)
  t.regex(await problemsOf(22), /^species\/s0, .*species\/s19 and 2 more; run /)
})

test('doctor lists at most twenty rows of a collection that a request could not have', async (t) => {
  const setup = await createSetup(t)
  await setup.use(async ({ client }) => {
    await client.prisma.$executeRaw`ALTER TABLE planets DROP CONSTRAINT planets_mass_jupiters_check`
    await client.prisma.$executeRaw`INSERT INTO planets (id, name, mass_jupiters)
      SELECT 'wrong-' || n, 'Wrong ' || n, -n FROM generate_series(1, 20) AS n`
  })
  const { output, status } = await run('doctor', setup.environment)
  t.is(status, 1)
  t.regex(output, /FAIL {2}planets\n +wrong-1: OUT_OF_RANGE mass_jupiters /)
  t.is(output.match(/wrong-\d+: OUT_OF_RANGE/g)?.length, 20)
  t.notRegex(output, / more$/m)
  await setup.use(
    ({ client }) => client.prisma.$executeRaw`INSERT INTO planets (id, name, mass_jupiters)
      SELECT 'more-' || n, 'More ' || n, -n FROM generate_series(1, 3) AS n`,
  )
  const more = await run('doctor', setup.environment)
  t.is(more.output.match(/-\d+: OUT_OF_RANGE/g)?.length, 20)
  t.regex(more.output, /^ +and 3 more$/m)
})

test('doctor --json prints which checks fail, and why', async (t) => {
  const setup = await createSetup(t)
  await setup.use(
    ({ client }) =>
      client.prisma.$executeRaw`INSERT INTO row_counts (collection, rows) VALUES ('planets', 4)`,
  )
  await setup.use(({ client }) => client.prisma.planet.create({ data: { id: 'one', name: 'One' } }))
  const wrong = await run('doctor', setup.environment, '--json')
  t.is(wrong.status, 1)
  const failed = JSON.parse(wrong.output).checks.filter(({ ok }: { ok: boolean }) => !ok)
  t.deepEqual(
    failed.map(({ check }: { check: string }) => check),
    ['row counts'],
  )
  t.regex(failed[0].problems[0], /^planets: stored count /)
  const unreadable = await run('doctor', { ...setup.environment, PORT: 'x' }, '--json')
  t.is(unreadable.status, 1)
  t.like(JSON.parse(unreadable.output), { ok: false, checks: [{ check: 'settings', ok: false }] })
})

test('a command continues when its output is closed, and keeps its exit status', async (t) => {
  const { environment } = await createSetup(t)
  const broken = await createSetup(t)
  await broken.use(({ client }) =>
    client.prisma.$executeRawUnsafe('ALTER TABLE planets ADD COLUMN colour text'),
  )
  for (const [variables, expected] of [
    [environment, 0],
    [broken.environment, 1],
  ] as const) {
    const child = start('doctor', variables)
    child.stdout.destroy()
    const [errors, [status]] = await Promise.all([text(child.stderr), once(child, 'close')])
    t.is(errors, '')
    t.is(status, expected)
  }
})

test('doctor, export and studio refuse a data folder without a database and create nothing', async (t) => {
  const folder = await createTestFolder(t)
  for (const [name, ...parameters] of [['doctor'], ['export', 'species'], ['studio']] as const) {
    for (const [environment, place] of [
      [{ DATA_DIR: 'mistyped' }, 'mistyped'],
      [{ DATA_DIR: '.' }, ''],
      [{}, '.data'],
    ] as const) {
      const { output, errors, status } = await runIn(folder, name, environment, ...parameters)
      const said = `${output}${errors}`
      t.is(status, 1, said)
      t.true(said.includes(`DATA_DIR ${join(folder, place)} contains no database`), said)
      t.regex(said, /Set DATA_DIR to the folder of the service/)
      t.notRegex(said, /\n\s+at /)
    }
  }
  t.deepEqual(await readdir(folder), [])
})

test('doctor and export do not migrate a server either, also with MIGRATE_ON_START=true', async (t) => {
  if (!server) {
    t.log('skipped: there is no PostgreSQL server')
    return t.pass()
  }
  const environment = { DATABASE_URL: await createServerDatabase(server, t), MIGRATE_ON_START: 'true' }
  for (const [name, ...parameters] of [['doctor'], ['export', 'species'], ['doctor']] as const) {
    const { output, errors, status } = await run(name, environment, ...parameters)
    t.is(status, 1)
    t.regex(`${output}${errors}`, /is pending|lacks \d+ migration\(s\)/)
  }
})

test('doctor and export do not migrate', async (t) => {
  const options = await createEmbedded(t)
  const database = await openTestDatabase(options)
  await database.client.prisma.$executeRaw`DELETE FROM _prisma_migrations
    WHERE migration_name = (SELECT max(migration_name) FROM _prisma_migrations)`
  await database.close()
  for (const [name, ...parameters] of [['doctor'], ['export', 'species'], ['doctor']] as const) {
    const { output, errors, status } = await run(name, { DATA_DIR: options.dataDir }, ...parameters)
    t.is(status, 1)
    t.regex(`${output}${errors}`, /lacks 1 migration\(s\).*npx halgraph migrate/)
  }
})
