import { once } from 'node:events'
import test, { type ExecutionContext } from 'ava'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { until } from '../helpers/process/until.ts'
import { environmentFor, runCommand, startCommand } from '../helpers/service/commands.ts'
import { query } from '../helpers/service/namespaces.ts'

const server = findServer(console.log)
const claim = server ? test : test.skip

/** Indexes of species for searches. */
const SEARCHES = 1

/** A migrated database, and the function that runs `halgraph namespace`. */
async function setUp(t: ExecutionContext) {
  const databaseUrl = await createDatabaseOn(server as string, t)
  const environment = environmentFor({ databaseUrl, dataDir: '' })
  const run = (...parameters: string[]) => runCommand('namespace', environment, ...parameters)
  const schemas = async () => {
    const text = `SELECT nspname AS name FROM pg_namespace WHERE nspname LIKE 'namespace%' ORDER BY 1`
    const rows = await query(databaseUrl, (send) => send(text))
    return (rows as { name: string }[]).map(({ name }) => name)
  }
  return { databaseUrl, environment, run, schemas }
}

claim('a namespace is created, listed, addressed and removed, each as often as one likes', async (t) => {
  const { databaseUrl, environment, run, schemas } = await setUp(t)
  for (const name of ['north', 'far-south', 'north'])
    t.like(await run('create', name), { output: `Created ${name}\n`, status: 0 })
  t.deepEqual(await schemas(), [
    'namespace_far_south',
    'namespace_far_south_internal',
    'namespace_north',
    'namespace_north_internal',
  ])
  const { output } = await run('list')
  t.regex(output, /^far-south +\S+ {2}ready\nnorth +\S+ {2}ready\n$/)
  const address = (await run('address', 'north')).output.trim()
  t.is(new URL(address).searchParams.get('schema'), 'namespace_north')
  const doctor = await runCommand('doctor', { ...environment, DATABASE_URL: address })
  t.is(doctor.status, 0, doctor.output)

  t.regex((await run('remove', 'north')).errors, /Pass --yes to remove north/)
  t.is((await schemas()).length, 4)
  t.like(await run('remove', 'north', '--yes'), { output: 'Removed north\n', status: 0 })
  t.deepEqual(await schemas(), ['namespace_far_south', 'namespace_far_south_internal'])
  const again = await run('remove', 'north', '--yes')
  t.like(again, { status: 2 })
  t.regex(again.errors, /There is no namespace north\. Namespaces: far-south/)
  t.is((await runCommand('doctor', environment)).status, 0, databaseUrl)
})

claim(
  'names that are no names, that of API_NAMESPACE, and unknown actions are refused with a sentence',
  async (t) => {
    const { run, schemas } = await setUp(t)
    for (const name of ['North', 'a_b', '1a', 'metrics', 'a'.repeat(49), '', 'x"; DROP SCHEMA public'])
      t.like(await run('create', name), { output: '', status: 2 }, name)
    t.regex((await run('create', 'api')).errors, /api is API_NAMESPACE/)
    t.regex((await run('rename', 'north')).errors, /Pass one of create, list, migrate, move, remove, address/)
    t.deepEqual(await schemas(), [])
    t.regex((await runCommand('namespace', { DATA_DIR: '/nowhere' }, 'list')).errors, /need DATABASE_URL/)
  },
)

claim(
  'namespaces that cannot be migrated do not keep others from being migrated, and are named',
  async (t) => {
    const { databaseUrl, run } = await setUp(t)
    for (const name of ['a', 'b', 'c']) await run('create', name)
    await query(databaseUrl, async (send) => {
      // It lacks a migration, and what that needs.
      await send(
        `DELETE FROM namespace_a_internal._prisma_migrations WHERE migration_name =
        (SELECT max(migration_name) FROM namespace_a_internal._prisma_migrations)`,
      )
      for (const name of ['a', 'c', 'c_internal']) await send(`DROP SCHEMA namespace_${name} CASCADE`)
    })
    t.regex(
      (await run('list')).output,
      /^a .* 1 migrations behind\nb .*ready\nc .* \d\d migrations behind\n$/,
    )
    const { status, output, errors } = await run('migrate')
    t.is(status, 1)
    t.regex(output, /^b: up to date\nc: applied \d+_\w+, .*\n$/)
    t.regex(errors, /^a: Migration \d+_\w+ failed.*\n.*Not migrated: a/s)
    t.regex((await run('list')).output, /^a .*behind\nb .*ready\nc .*ready\n$/)
  },
)

claim('a namespace is moved only where its tables are', async (t) => {
  const { run } = await setUp(t)
  const elsewhere = await createDatabaseOn(server as string, t)
  await run('create', 'north')
  t.regex((await run('move', 'north')).errors, /--address/)
  const refused = await run('move', 'north', '--address', elsewhere)
  t.is(refused.status, 1)
  t.regex(refused.errors, /north cannot be served from there: \d+ migrations behind/)
  await run('create', 'south', '--address', elsewhere)
  const address = new URL((await run('address', 'south')).output.trim())
  t.is(address.pathname, new URL(elsewhere).pathname)
  await query(elsewhere, async (send) => {
    for (const end of ['', '_internal'])
      await send(`ALTER SCHEMA namespace_south${end} RENAME TO namespace_north${end}`)
  })
  t.like(await run('move', 'north', '--address', elsewhere), {
    status: 0,
    output: 'north is at its new address\n',
  })
})

claim('of three namespaces in one database each is dropped without a change to the others', async (t) => {
  const { databaseUrl, environment, run } = await setUp(t)
  const names = ['a', 'b', 'c']
  for (const name of names) await run('create', name)
  const addresses = await Promise.all(names.map(async (name) => (await run('address', name)).output.trim()))
  for (const [index, name] of names.entries())
    await query(databaseUrl, async (send) => {
      await send(`SET search_path TO namespace_${name}, namespace_${name}_internal, pg_temp`)
      await send(
        `INSERT INTO planets (id, name) SELECT 'p' || n, 'P ' || n FROM generate_series(0, ${index}) AS n`,
      )
      await send(`UPDATE planets SET name = 'Other' WHERE id = 'p0'`)
    })
  const facts = (name: string) =>
    query(databaseUrl, (send) =>
      send(`SELECT (SELECT sum(rows)::int FROM namespace_${name}_internal.row_counts) AS counted,
          (SELECT count(*)::int FROM namespace_${name}_internal.recorded_changes) AS recorded,
          (SELECT count(*)::int FROM pg_indexes WHERE schemaname = 'namespace_${name}' AND indexdef LIKE '%gin_trgm_ops%') AS searches`),
    )
  for (const [index, name] of names.entries()) {
    for (const [place, left] of [...names.entries()].slice(index)) {
      t.deepEqual(await facts(left), [{ counted: place + 1, recorded: place + 2, searches: SEARCHES }], left)
      const doctor = await runCommand('doctor', { ...environment, DATABASE_URL: addresses[place] })
      t.is(doctor.status, 0, doctor.output)
    }
    t.is((await run('remove', name, '--yes')).status, 0)
  }
})

for (const [action, parameters] of [
  ['create', []],
  ['remove', ['--yes']],
] as const) {
  claim(`what was killed half-way through \`${action}\` is completed by the same command`, async (t) => {
    const { databaseUrl, environment, run, schemas } = await setUp(t)
    if (action === 'remove') await run('create', 'north')
    await query(databaseUrl, async (send) => {
      // Nothing can be created or dropped while another session has the table.
      await send('BEGIN')
      if (action === 'create') await send('SELECT pg_advisory_xact_lock(72707369)')
      else await send('LOCK TABLE namespace_north.planets')
      const child = startCommand('namespace', environment, action, 'north', ...parameters)
      await until(async () => {
        const waiting = await send(`SELECT FROM pg_locks WHERE NOT granted AND database =
          (SELECT oid FROM pg_database WHERE datname = current_database())`)
        return waiting.length > 0
      })
      child.kill('SIGKILL')
      await once(child, 'exit')
      await send('ROLLBACK')
    })
    t.is((await run(action, 'north', ...parameters)).status, 0)
    t.is((await schemas()).length, action === 'create' ? 2 : 0)
    t.regex((await run('list')).output, action === 'create' ? /^north .*ready\n$/ : /^$/)
  })
}
