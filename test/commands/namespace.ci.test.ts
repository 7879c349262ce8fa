import { once } from 'node:events'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { parseConnection } from '../../src/database/connection.ts'
import { readMigrations } from '../../src/database/migrations/migration-files.ts'
import { migrate } from '../../src/database/migrations/migrator.ts'
import { addressOf, schemaOf } from '../../src/database/namespaces/registry.ts'
import { createTestFolder } from '../helpers/database/database.ts'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { domain } from '../helpers/domain/domain.ts'
import { until } from '../helpers/process/until.ts'
import { runCommand, startCommand } from '../helpers/service/commands.ts'
import { prepareCommands } from '../helpers/service/namespace-commands.ts'
import { query } from '../helpers/service/namespaces.ts'

const server = findServer(console.log)
const claim = server ? test : test.skip

/** Indexes of species for searches. */
const SEARCHES = 1

claim('a namespace is moved only where its tables are', async (t) => {
  const { run } = await prepareCommands(t, server as string, ['north'])
  const elsewhere = await createDatabaseOn(server as string, t)
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
  const names = ['east', 'north', 'south'] as const
  const { databaseUrl, environment, run } = await prepareCommands(t, server as string, names)
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
  t.is((await runCommand('doctor', environment)).status, 0, databaseUrl)
})

/** The last migration of a namespace that is behind. The one after the next needs all tables. */
const BEHIND = '20261129200000_tell_lives_apart'

for (const { action, parameters = [], schemas, lock } of [
  { action: 'create', schemas: 2, lock: 'SELECT pg_advisory_xact_lock(72707369)' },
  { action: 'remove', parameters: ['--yes'], schemas: 0, lock: 'LOCK TABLE namespace_north.planets' },
  { action: 'migrate', schemas: 2, lock: 'LOCK TABLE namespace_north.planets' },
]) {
  claim(`what was killed half-way through \`${action}\` is completed by the same command`, async (t) => {
    const names = action === 'create' ? [] : (['east', 'north'] as const)
    const { databaseUrl, environment, run, schemasOf } = await prepareCommands(t, server as string, names)
    const named = action === 'migrate' ? [] : ['north', ...parameters]
    await query(databaseUrl, async (send) => {
      const removed = { create: ['north'], remove: [], migrate: ['east', 'north'] }[action] ?? []
      for (const schema of removed.flatMap((name) => [`namespace_${name}`, `namespace_${name}_internal`]))
        await send(`DROP SCHEMA ${schema} CASCADE`)
      if (action === 'migrate') {
        const older = await createTestFolder(t)
        const { migrations } = domain.folder
        for (const { name } of await readMigrations(migrations))
          if (name <= BEHIND) await cp(join(migrations, name), join(older, name), { recursive: true })
        await migrate(
          parseConnection(addressOf({ schema: schemaOf('north'), address: undefined }, databaseUrl)),
          older,
        )
      }
      // It cannot go on while another session has the lock.
      await send('BEGIN')
      await send(lock)
      const child = startCommand('namespace', environment, action, ...named)
      await until(async () => {
        const waiting = await send(`SELECT FROM pg_locks WHERE NOT granted AND database =
          (SELECT oid FROM pg_database WHERE datname = current_database())`)
        return waiting.length > 0
      })
      child.kill('SIGKILL')
      await once(child, 'exit')
      await send('ROLLBACK')
    })
    if (action === 'migrate')
      t.regex((await run('list')).output, /^east .*ready\nnorth .* [1-9]\d* migrations behind\n$/)
    const { status, output } = await run(action, ...named)
    t.is(status, 0)
    if (action === 'migrate')
      t.regex(output, /^east: up to date\nnorth: applied 20261129235500_row_milestones/)
    t.is((await schemasOf('north')).length, schemas)
    const listed = {
      create: /^north .*ready\n$/,
      remove: /^east .*ready\n$/,
      migrate: /^(?:(?:east|north) .*ready\n){2}$/,
    }
    t.regex((await run('list')).output, listed[action as keyof typeof listed])
  })
}
