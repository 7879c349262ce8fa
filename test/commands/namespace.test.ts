import test from 'ava'
import { isNamespaceName } from '../../src/http/namespaces.ts'
import { findServer } from '../helpers/database/postgres-server.ts'
import { runCommand } from '../helpers/service/commands.ts'
import { prepareCommands } from '../helpers/service/namespace-commands.ts'
import { query } from '../helpers/service/namespaces.ts'

const server = findServer(console.log)
const claim = server ? test : test.skip

claim('a namespace is created, listed, addressed and removed, each as often as one likes', async (t) => {
  const { run, schemasOf } = await prepareCommands(t, server as string, ['north'])
  for (let time = 0; time < 2; time++)
    t.like(await run('create', 'far-south'), { output: 'Created far-south\n', status: 0 })
  t.deepEqual(await schemasOf('far-south'), ['namespace_far_south', 'namespace_far_south_internal'])
  t.regex((await run('list')).output, /^far-south +\S+ {2}ready\nnorth +\S+ {2}ready\n$/)
  const address = (await run('address', 'far-south')).output.trim()
  t.is(new URL(address).searchParams.get('schema'), 'namespace_far_south')

  t.regex((await run('remove', 'far-south')).errors, /Pass --yes to remove far-south/)
  t.is((await schemasOf('far-south')).length, 2)
  t.like(await run('remove', 'far-south', '--yes'), { output: 'Removed far-south\n', status: 0 })
  t.deepEqual(await schemasOf('far-south'), [])
  t.is((await schemasOf('north')).length, 2)
  const again = await run('remove', 'far-south', '--yes')
  t.like(again, { status: 2 })
  t.regex(again.errors, /There is no namespace far-south\. Namespaces: north/)
})

claim(
  'names that are no names, that of API_NAMESPACE, and unknown actions are refused with a sentence',
  async (t) => {
    for (const name of ['North', 'a_b', '1a', 'metrics', 'a'.repeat(49), '']) t.false(isNamespaceName(name))
    t.true(isNamespaceName('a'.repeat(48)))
    const { run, schemasOf } = await prepareCommands(t, server as string, [])
    t.like(await run('create', 'x"; DROP SCHEMA public'), { output: '', status: 2 })
    t.regex((await run('create', 'api')).errors, /api is API_NAMESPACE/)
    t.regex((await run('rename', 'north')).errors, /Pass one of create, list, migrate, move, remove, address/)
    t.deepEqual(await schemasOf('api'), [])
    t.regex((await runCommand('namespace', { DATA_DIR: '/nowhere' }, 'list')).errors, /need DATABASE_URL/)
  },
)

claim(
  'namespaces that cannot be migrated do not keep others from being migrated, and are named',
  async (t) => {
    const { databaseUrl, run } = await prepareCommands(t, server as string, [
      'east',
      'north',
      'south',
      'west',
    ])
    await query(databaseUrl, async (send) => {
      // It lacks a migration, and what that needs.
      await send(
        `DELETE FROM namespace_east_internal._prisma_migrations WHERE migration_name LIKE '%row_milestones'`,
      )
      for (const name of ['east', 'south', 'south_internal'])
        await send(`DROP SCHEMA namespace_${name} CASCADE`)
      await send(`INSERT INTO namespace_west_internal._prisma_migrations
        SELECT 'later', checksum, finished_at, '3000', logs, rolled_back_at, started_at, 1
        FROM namespace_west_internal._prisma_migrations LIMIT 1`)
    })
    t.regex(
      (await run('list')).output,
      /^east .* 1 migrations behind\nnorth .*ready\nsouth .* \d\d migrations behind\nwest .* of another version\n$/,
    )
    const { status, output, errors } = await run('migrate')
    t.is(status, 1)
    t.regex(output, /^north: up to date\nsouth: applied \d+_\w+, .*\n$/)
    t.regex(errors, /^east: Migration \d+_\w+ failed.*\n.*Not migrated: east, west/s)
    t.regex(
      (await run('list')).output,
      /^east .*behind\nnorth .*ready\nsouth .*ready\nwest .*another version\n$/,
    )
  },
)
