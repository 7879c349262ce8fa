import test from 'ava'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { shareTestService, startTestService } from '../helpers/service/service.ts'

// Two sessions that wait for each other take a server.
const server = findServer((reason) => console.log(`transactions on PostgreSQL: ${reason}`))

const service = shareTestService(test)

const planet = (id: string, name = id) => `putPlanet(id: "${id}", input: { name: "${name}" }) { outcome }`

const statusOf = async (path: string) => (await service().reader.get(path)).status

test('the fields of an atomic mutation are written together, each after the one before', async (t) => {
  const { data, errors } = await service().writer.graphql(`mutation @atomic {
    first: ${planet('together')}
    moon: putMoon(planetId: "together", id: "luna", input: { name: "Luna" }) { outcome moon { planet { name } } }
    again: patchPlanet(id: "together", patch: { hostStar: "Sol" }) { planet { version hostStar moons { totalCount } } }
    gone: deleteMoon(planetId: "together", id: "luna") { outcome }
  }`)
  t.is(errors, undefined)
  t.deepEqual(data.moon.moon.planet.name, 'together')
  t.deepEqual(data.again.planet, { version: 2, hostStar: 'Sol', moons: { totalCount: 1 } })
  t.is(data.gone.outcome, 'DELETED')
  t.is((await service().reader.get('/planets/together')).headers.get('etag'), '"together:2"')
})

test('an atomic mutation can select its type beside its writes', async (t) => {
  const { data, errors } = await service().writer.graphql(
    `mutation @atomic { __typename ${planet('typed')} }`,
  )
  t.is(errors, undefined)
  t.deepEqual(data, { __typename: 'Mutation', putPlanet: { outcome: 'CREATED' } })
})

test('a field reads no write of a later field', async (t) => {
  const moon = (name: string) => `createMoon(planetId: "watched", input: { name: "${name}" }) {
    moon { planet { moons { totalCount } } }
  }`
  const { data, errors } = await service().writer.graphql(`mutation @atomic {
    ${planet('watched')}
    one: ${moon('One')}
    two: ${moon('Two')}
  }`)
  t.is(errors, undefined)
  t.deepEqual(
    [data.one, data.two].map(({ moon }) => moon.planet.moons.totalCount),
    [1, 2],
  )
})

test('a fragment with a variable, and fields that are merged or left out, are as without a transaction', async (t) => {
  const fields = `{
    made: putPlanet(id: $id, input: { name: $name }) { ...written }
    made: putPlanet(id: $id, input: { name: $name }) { planet { name } }
    left: putPlanet(id: "left", input: { name: "Left" }) @skip(if: $skips) { outcome }
    ...more
  }
  fragment written on PlanetPayload { outcome planet { id @include(if: $shows) } }
  fragment more on Mutation { again: patchPlanet(id: $id, patch: {}) { outcome } }`
  const variables = { id: 'fragments', name: 'Fragments', skips: true, shows: true }
  const { data, errors } = await service().writer.graphql(
    `mutation ($id: ID!, $name: String!, $skips: Boolean!, $shows: Boolean!) @atomic ${fields}`,
    variables,
  )
  t.is(errors, undefined)
  t.deepEqual(data, {
    made: { outcome: 'CREATED', planet: { id: 'fragments', name: 'Fragments' } },
    again: { outcome: 'UNCHANGED' },
  })
})

const refusals: [title: string, field: string, code: string, detail?: string][] = [
  ['a value that is not valid', 'putPlanet(id: "x", input: { name: " " }) { outcome }', 'VALIDATION_FAILED'],
  ['a value that another has', planet('other', 'FIRST'), 'RESOURCE_ALREADY_EXISTS', 'input.name'],
  [
    'a parent that is missing',
    'createMoon(planetId: "none", input: { name: "M" }) { outcome }',
    'RESOURCE_NOT_FOUND',
  ],
  [
    'a reference that is missing',
    'createMission(input: { name: "M", spacecraftId: "none" }) { outcome }',
    'BUSINESS_RULE_VIOLATION',
    'input.spacecraftId',
  ],
  [
    'a version that is not current',
    'patchPlanet(id: "first", ifVersion: [7], patch: {}) { outcome }',
    'CONCURRENT_MODIFICATION',
  ],
]

for (const [title, field, code, detail] of refusals) {
  test(`${title} undoes the whole atomic mutation`, async (t) => {
    const { status, data, errors } = await service().writer.graphql(`mutation @atomic {
      first: ${planet('first')}
      second: ${planet('second')}
      refused: ${field}
      later: putPlanet(id: "later", input: { name: "" }) { outcome }
    }`)
    t.deepEqual([status, data, errors?.length], [200, null, 1])
    t.deepEqual([errors?.[0].path, errors?.[0].extensions.code], [['refused'], code])
    if (detail !== undefined) t.is(errors?.[0].extensions.details[0].field, detail)
    t.is(await statusOf('/planets/first'), 404)
    t.is(await statusOf('/planets/second'), 404)
  })
}

test('what an atomic mutation deletes is gone for its later fields', async (t) => {
  const { data, errors } = await service().writer.graphql(`mutation @atomic {
    made: ${planet('short-lived')}
    gone: deletePlanet(id: "short-lived") { outcome }
    moon: createMoon(planetId: "short-lived", input: { name: "M" }) { outcome }
  }`)
  t.is(data, null)
  t.deepEqual([errors?.[0].path, errors?.[0].extensions.code], [['moon'], 'RESOURCE_GONE'])
  t.is(await statusOf('/planets/short-lived'), 404)
})

test('a result that may not be read undoes an atomic mutation', async (t) => {
  const { data, errors } = await service()
    .withScope('planets:write planets:read')
    .graphql(`mutation @atomic {
    one: ${planet('unread')}
    two: patchPlanet(id: "unread", patch: {}) { planet { moons { totalCount } } }
  }`)
  t.deepEqual([data, errors?.[0].extensions.code], [null, 'ACCESS_DENIED'])
  t.is(await statusOf('/planets/unread'), 404)
})

test('a dry run has the results of the mutation, and writes nothing', async (t) => {
  const { writer, reader } = service()
  await writer.put('/planets/kept', { id: 'kept', name: 'Kept' })
  for (const directives of ['@dryRun', '@atomic @dryRun']) {
    const { data, errors } = await writer.graphql(`mutation ${directives} {
      change: patchPlanet(id: "kept", patch: { hostStar: "Sol" }) { outcome planet { version hostStar } }
      moon: createMoon(planetId: "kept", input: { name: "M" }) { moon { id planet { hostStar } } }
      gone: deletePlanet(id: "kept") { outcome }
    }`)
    t.is(errors, undefined)
    t.deepEqual(data.change, { outcome: 'REPLACED', planet: { version: 2, hostStar: 'Sol' } })
    t.is(data.moon.moon.planet.hostStar, 'Sol')
    t.is(data.gone.outcome, 'DELETED')
  }
  const { headers, body } = await reader.get('/planets/kept')
  t.deepEqual([headers.get('etag'), body.host_star], ['"kept:1"', undefined])
  t.is((await reader.get('/planets/kept/moons')).body.total_count, 0)
})

test('a field that fails in a dry run leaves the others, unless it is atomic', async (t) => {
  const { writer } = service()
  const fields = `{
    one: ${planet('dry-one')}
    taken: ${planet('dry-two', 'DRY-ONE')}
    three: createMoon(planetId: "dry-one", input: { name: "M" }) { outcome }
  }`
  const apart = await writer.graphql(`mutation @dryRun ${fields}`)
  t.deepEqual(apart.data, { one: { outcome: 'CREATED' }, taken: null, three: { outcome: 'CREATED' } })
  t.deepEqual(
    apart.errors?.map(({ path, extensions }) => [...path, extensions.code]),
    [['taken', 'RESOURCE_ALREADY_EXISTS']],
  )
  const together = await writer.graphql(`mutation @atomic @dryRun ${fields}`)
  t.deepEqual([together.data, together.errors?.[0].path], [null, ['taken']])
  t.is(await statusOf('/planets/dry-one'), 404)
})

test('a dry run neither stores nor uses up an idempotency key', async (t) => {
  const { writer } = service()
  const create = (directive: string) =>
    writer.graphql(`mutation ${directive} {
      createPlanet(input: { name: "Keyed dry" }, idempotencyKey: "dry") { outcome planet { id } }
    }`)
  const tried = await create('@dryRun')
  t.is(tried.data.createPlanet.outcome, 'CREATED')
  const { data } = await create('')
  t.not(data.createPlanet.planet.id, tried.data.createPlanet.planet.id)
  t.deepEqual((await create('@atomic')).data, data, 'in a transaction, a key is known too')
  t.deepEqual((await create('@dryRun')).data, data)
})

test('an atomic mutation has at most 100 fields, and a dry run too', async (t) => {
  const { writer } = service()
  const fields = (count: number, prefix: string) =>
    Array.from(
      { length: count },
      (_, index) => `f${index}: deletePlanet(id: "${prefix}${index}") { outcome }`,
    )
  const { data } = await writer.graphql(`mutation @atomic { ${fields(100, 'few').join(' ')} }`)
  t.is(Object.keys(data).length, 100)
  for (const directive of ['@atomic', '@dryRun']) {
    const { status, errors } = await writer.graphql(
      `mutation ${directive} { ${fields(101, 'many').join(' ')} }`,
    )
    t.is(status, 400)
    t.is(errors?.[0].extensions.details[0].code, 'LIMIT_EXCEEDED')
    t.regex(errors?.[0].message, /101 fields in one transaction; 100 are allowed/)
  }
})

test('variables that do not fit are a 400, with and without a transaction', async (t) => {
  const answers = ['', '@atomic', '@dryRun'].map((directive) =>
    service().writer.graphql(
      `mutation ($input: PlanetInput!) ${directive} { createPlanet(input: $input) { outcome } }`,
      { input: { name: 7 } },
    ),
  )
  const [plain, ...others] = await Promise.all(answers)
  t.is(plain?.status, 400)
  for (const { status, errors } of others) t.deepEqual([status, errors], [400, plain?.errors])
})

const onServer = server ? test : test.skip

onServer('on PostgreSQL, atomic mutations that lock in opposite orders all succeed', async (t) => {
  const databaseUrl = await createDatabaseOn(server as string, t)
  const { writer, reader } = await startTestService(t, { databaseUrl })
  const ids = ['a', 'b', 'c', 'd']
  for (const id of ids) await writer.put(`/planets/${id}`, { id, name: id })
  const raise = (order: readonly string[], star: string) =>
    writer.graphql(`mutation @atomic {
      ${order.map((id) => `${id}: patchPlanet(id: "${id}", patch: { hostStar: "${star}" }) { outcome }`).join('\n')}
    }`)
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, index) => raise(index % 2 ? ids : ids.toReversed(), `star ${index}`)),
  )
  t.deepEqual(
    answers.flatMap(({ errors }) => errors ?? []),
    [],
  )
  const stars = await Promise.all(ids.map(async (id) => (await reader.get(`/planets/${id}`)).body.host_star))
  t.is(new Set(stars).size, 1, 'all rows are of the same mutation')
})

function isDeadlock(error: { code?: string }): boolean {
  if (error.code !== 'P2034') throw error
  return true
}

onServer('on PostgreSQL, an atomic mutation that ends in a deadlock is executed again', async (t) => {
  const databaseUrl = await createDatabaseOn(server as string, t)
  const { writer, reader, database } = await startTestService(t, { databaseUrl })
  for (const id of ['x', 'y']) await writer.put(`/planets/${id}`, { id, name: id })
  const { client } = database
  const waiting = async () => {
    const [locks] = await client.prisma.$queryRaw<{ waiting: bigint }[]>`
      SELECT count(*) AS waiting FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`
    return Number(locks?.waiting) > 0
  }
  let answer: ReturnType<typeof writer.graphql> | undefined
  /** The mutation waits for y, which another transaction holds, and that transaction for x. */
  const waitForEachOther = (year: number) =>
    client.prisma.$transaction(
      async (other) => {
        // The mutation locks its rows in the order of their identifiers.
        await other.planet.update({ where: { id: 'y' }, data: { host_star: 'other' } })
        answer = writer.graphql(`mutation @atomic {
          y: patchPlanet(id: "y", patch: { discoveryYear: ${year} }) { outcome }
          x: patchPlanet(id: "x", patch: { discoveryYear: ${year} }) { outcome }
        }`)
        while (!(await waiting()));
        await other.planet.update({ where: { id: 'x' }, data: { host_star: 'other' } })
      },
      { timeout: 30_000 },
    )
  let year = 2031
  // PostgreSQL ends the transaction that notices the deadlock. On a busy machine, that may be the other one.
  while (await waitForEachOther(year).then(() => false, isDeadlock)) {
    await answer
    year++
  }
  const { data, errors } = (await answer) ?? {}
  t.deepEqual([errors, data], [undefined, { y: { outcome: 'REPLACED' }, x: { outcome: 'REPLACED' } }])
  for (const id of ['x', 'y']) {
    const { body } = await reader.get(`/planets/${id}`)
    t.deepEqual([body.host_star, body.discovery_year], ['other', year])
  }
  const [counted] = await client.prisma.$queryRaw<{ deadlocks: bigint }[]>`
    SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`
  // On a busy machine, the next execution may end in one as well.
  t.true((counted?.deadlocks ?? 0n) > year - 2031)
})

test('a write that relies on a version creates nothing, also beside creations', async (t) => {
  const { writer, reader } = service()
  const { data, errors } = await writer.graphql(`mutation @atomic {
    first: putPlanet(id: "beside", input: { name: "Beside" }) { outcome }
    second: putPlanet(id: "relying", input: { name: "Relying" }, ifVersion: [1]) { outcome }
  }`)
  t.deepEqual([data, errors?.[0].path, errors?.[0].extensions.code], [null, ['second'], 'RESOURCE_NOT_FOUND'])
  t.is((await reader.get('/planets/beside')).status, 404)
})
