import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import { DatabaseRefusedError } from '../../src/database/connection.ts'
import { embeddedConnection } from '../../src/database/embedded/embedded-database.ts'
import { prepareFolder } from '../../src/database/embedded/folder.ts'
import {
  createEmbedded,
  createTestDatabase,
  createTestFolder,
  type Owner,
  openTestDatabase,
  type TestOptions,
} from '../helpers/database/database.ts'
import { ENGINE_OPTIONS } from '../helpers/service/service-process.ts'

// Tests of the embedded database, which ignore TEST_DATABASE_URL.
const embedded = (dataDir: string): TestOptions => ({
  dataDir,
  migrateOnStart: false,
  databasePoolSize: 5,
})

async function open(t: ExecutionContext, dataDir: string, limits: Partial<TestOptions> = {}) {
  const database = await openTestDatabase({ ...embedded(dataDir), ...limits })
  t.teardown(() => database.close())
  return database
}

/** An empty database that tests share which leave it as it was. */
async function shared() {
  const { dataDir, database } = await opened
  await database.client.prisma.planet.deleteMany()
  return { dataDir, client: database.client }
}

const releases: (() => Promise<void>)[] = []
const opened = openShared({ teardown: (release) => void releases.push(release) })
test.after.always(async () => {
  for (const release of releases.reverse()) await release()
})

async function openShared(owner: Owner) {
  const { dataDir } = await createEmbedded(owner)
  const database = await openTestDatabase(embedded(dataDir))
  owner.teardown(() => database.close())
  return { dataDir, database }
}

async function connectTo(t: ExecutionContext, dataDir: string): Promise<pg.Client> {
  const { socketFolder } = await prepareFolder(dataDir)
  const client = new pg.Client(embeddedConnection(socketFolder))
  client.on('error', () => {})
  await client.connect()
  t.teardown(() => client.end())
  return client
}

/** Opens the folder in another process; resolves when it is open. */
async function openElsewhere(t: ExecutionContext, dataDir: string): Promise<ChildProcess> {
  const entry = fileURLToPath(
    new URL('../dist/test/helpers/database/open-database-process.js', import.meta.url),
  )
  const child = spawn(process.execPath, [...ENGINE_OPTIONS, entry, dataDir], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  t.teardown(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

test.serial('the test database is open, migrated and empty', async (t) => {
  const database = await openTestDatabase(await createTestDatabase(t))
  t.teardown(() => database.close())
  t.is(await database.client.prisma.species.count(), 0)
})

test.serial(
  'the first start creates a private folder with a migrated database, and the next start finds its rows',
  async (t) => {
    const dataDir = join(await createTestFolder(t), 'made', 'here')
    const first = await openTestDatabase(embedded(dataDir))
    await first.client.prisma.planet.create({ data: { id: 'kepler-442b', name: 'Kepler-442b' } })
    await first.close()
    t.is((await stat(dataDir)).mode & 0o777, 0o700)
    t.deepEqual(await readdir(dataDir), ['postgres'])

    const second = await open(t, dataDir)
    t.is((await second.client.prisma.planet.findMany()).length, 1)
  },
)

test.serial('the buffers of the embedded database are small', async (t) => {
  const { client } = await shared()
  t.deepEqual(await client.$rows({ text: 'SHOW shared_buffers', values: [] }), [{ shared_buffers: '32MB' }])
})

test.serial('a data folder whose path is too long for a socket works', async (t) => {
  const { dataDir: short } = await createEmbedded(t)
  const dataDir = join(short, 'd'.repeat(120))
  await mkdir(dataDir)
  await rename(join(short, 'postgres'), join(dataDir, 'postgres'))
  const database = await open(t, dataDir)
  t.is(await database.client.prisma.species.count(), 0)
  t.is((await stat((await prepareFolder(dataDir)).socketFolder)).mode & 0o7777, 0o700)
})

test.serial('a second process on the same folder is refused, and the first continues', async (t) => {
  const { dataDir } = await createEmbedded(t)
  const child = await openElsewhere(t, dataDir)
  const error = await t.throwsAsync(openTestDatabase(embedded(dataDir)), { instanceOf: DatabaseRefusedError })
  t.regex(error?.message ?? '', /Another process is using the embedded database/)
  const client = await connectTo(t, dataDir)
  t.is((await client.query('SELECT FROM species')).rowCount, 0)
  t.is(child.exitCode, null)
})

test.serial('the lock of a killed process is taken over, and its committed rows are there', async (t) => {
  const { dataDir } = await createEmbedded(t)
  const child = await openElsewhere(t, dataDir)
  const client = await connectTo(t, dataDir)
  await client.query("INSERT INTO planets (id, name) VALUES ('proxima-b', 'Proxima b')")
  child.kill('SIGKILL')
  await once(child, 'exit')
  const database = await open(t, dataDir)
  t.is(await database.client.prisma.planet.count(), 1)
})

test.serial('the lock of a process in another namespace, which may run, is not removed', async (t) => {
  const { dataDir } = await createEmbedded(t)
  const lock = join(dataDir, '.lock')
  await mkdir(lock)
  // No process here has this number. One in another container may, and renews its lock.
  await writeFile(join(dataDir, '.lock.holder'), `container pid:[1] ${2 ** 22 + 1}`)
  const renewal = new Date(Date.now() + 60_000)
  await utimes(lock, renewal, renewal)
  await t.throwsAsync(openTestDatabase(embedded(dataDir)), {
    instanceOf: DatabaseRefusedError,
    message: /Another process is using the embedded database/,
  })
  t.is(Math.round((await stat(lock)).mtimeMs), renewal.getTime())
  t.regex(await readFile(join(dataDir, '.lock.holder'), 'utf8'), /^container /)
})

test.serial('a file in the place of the lock is reported as such, and kept', async (t) => {
  const { dataDir } = await createEmbedded(t)
  const file = join(dataDir, '.lock')
  await writeFile(file, 'mine')
  await t.throwsAsync(openTestDatabase(embedded(dataDir)), {
    instanceOf: DatabaseRefusedError,
    message: /\.lock is not a lock of this service/,
  })
  t.is(await readFile(file, 'utf8'), 'mine')
})

test.serial('an incomplete first start is repeated', async (t) => {
  const dataDir = await createTestFolder(t)
  await mkdir(join(dataDir, 'postgres.unfinished', 'base'), { recursive: true })
  await writeFile(join(dataDir, 'postgres.unfinished', 'PG_VERSION'), '18\n')
  const database = await open(t, dataDir)
  t.is(await database.client.prisma.species.count(), 0)
  t.false((await readdir(dataDir)).includes('postgres.unfinished'))
})

const NO_DATABASE =
  /^The database in .+ cannot be opened: it is not a PostgreSQL data folder, or it is damaged\./

for (const [kind, files, message] of [
  ['with other files', { 'postgres/notes.txt': 'mine' }, NO_DATABASE],
  [
    'of another major version',
    { 'postgres/PG_VERSION': '13\n', 'postgres/global/pg_control': 'x' },
    /^The database in .+ cannot be opened: it was created by PostgreSQL 13, but the embedded database is version 18\./,
  ],
  ['without its control file', { 'postgres/PG_VERSION': '18\n' }, NO_DATABASE],
  ['that is empty', { 'postgres/': '' }, NO_DATABASE],
  [
    'of a PostgreSQL server',
    { PG_VERSION: '15\n' },
    /^DATA_DIR .+ is the data folder of a PostgreSQL server\. Choose another\.$/,
  ],
] as const) {
  test.serial(`a folder ${kind} is refused and not changed`, async (t) => {
    const dataDir = await createTestFolder(t)
    for (const [name, content] of Object.entries(files)) {
      await mkdir(join(dataDir, name, name.endsWith('/') ? '.' : '..'), { recursive: true })
      if (content) await writeFile(join(dataDir, name), content)
    }
    await t.throwsAsync(openTestDatabase(embedded(dataDir)), { instanceOf: DatabaseRefusedError, message })
    const left = (await readdir(dataDir, { recursive: true, withFileTypes: true })).filter((entry) =>
      entry.isFile(),
    )
    t.is(left.length, Object.values(files).filter(Boolean).length)
  })
}

test.serial('a damaged database is refused with a message and not changed', async (t) => {
  const { dataDir: damaged } = await createEmbedded(t)
  const control = join(damaged, 'postgres', 'global', 'pg_control')
  await writeFile(control, Buffer.alloc(8192, 7))
  const error = await t.throwsAsync(openTestDatabase(embedded(damaged)), { instanceOf: DatabaseRefusedError })
  t.regex(error?.message ?? '', /does not open/)
  t.deepEqual(await readFile(control), Buffer.alloc(8192, 7))
})

test.serial(
  'a folder with other files that other users can access is refused, and its mode does not change',
  async (t) => {
    const dataDir = join(await createTestFolder(t), 'shared')
    await mkdir(dataDir, { mode: 0o755 })
    await writeFile(join(dataDir, 'letter.txt'), '')
    await t.throwsAsync(openTestDatabase(embedded(dataDir)), {
      message: /other users can access it.*letter\.txt/,
    })
    t.is((await stat(dataDir)).mode & 0o777, 0o755)
  },
)

test.serial('connections never see each other’s statements, transactions or failures', async (t) => {
  const { client } = await shared()
  const long = 'y'.repeat(200_000)
  const work = Array.from({ length: 200 }, async (_, index) => {
    const [row] = await client.prisma.$queryRaw<{ text: string }[]>`SELECT ${`v${index}`}::text AS text`
    t.is(row?.text, `v${index}`)
    const [sized] = await client.prisma.$queryRaw<
      { size: number }[]
    >`SELECT length(${long}::text) + ${index}::int AS size`
    t.is(sized?.size, long.length + index)
    await t.throwsAsync(client.prisma.$executeRaw`SELECT 1 / ${0}::int`)
    await client.prisma.$transaction([
      client.prisma.planet.create({ data: { id: `p${index}`, name: `P ${index}` } }),
    ])
  })
  await Promise.all(work)
  t.is(await client.prisma.planet.count(), 200)
})

test.serial('a connection that closes in a transaction loses its changes and its settings', async (t) => {
  const { dataDir, client } = await shared()
  const visitor = await connectTo(t, dataDir)
  await visitor.query('SET default_transaction_read_only = on')
  await visitor.query("BEGIN READ WRITE; INSERT INTO planets (id, name) VALUES ('x', 'X')")
  await visitor.end()
  await client.prisma.planet.create({ data: { id: 'y', name: 'Y' } })
  t.deepEqual(await client.prisma.planet.findMany({ select: { id: true } }), [{ id: 'y' }])
})

test.serial(
  'a connection that is idle in a transaction does not block the service permanently',
  async (t) => {
    const { dataDir } = await createEmbedded(t)
    const { client } = await open(t, dataDir, { databaseTimeout: 2_500 })
    const visitor = await connectTo(t, dataDir)
    await visitor.query('BEGIN')
    t.is(await client.prisma.planet.count(), 0)
  },
)

test.serial('a transaction of the service survives a pause of its process while others wait', async (t) => {
  const { client } = await shared()
  await Promise.all([client.prisma.planet.count(), client.prisma.planet.count()])
  let other: Promise<number> | undefined
  await client.prisma.$transaction(async (inside) => {
    await inside.planet.create({ data: { id: 'a', name: 'A' } })
    other = client.prisma.planet.count().then((count) => count)
    await inside.planet.count()
    // Longer than a client that is idle in a transaction may be.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000)
    await inside.planet.create({ data: { id: 'b', name: 'B' } })
  })
  t.is(await other, 2)
})

test.serial('invalid data on the socket ends only that connection', async (t) => {
  const { dataDir, client } = await shared()
  const socket = connect(join(dataDir, '.s.PGSQL.5432'))
  await once(socket, 'connect')
  socket.on('error', () => {})
  socket.end(Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'))
  await once(socket.resume(), 'close')
  t.is(await client.prisma.planet.count(), 0)
})

test.serial('COPY FROM STDIN, which would end the embedded engine, is refused', async (t) => {
  const { dataDir, client } = await shared()
  const visitor = await connectTo(t, dataDir)
  for (const values of [undefined, []]) {
    const query = {
      text: 'COPY planets (id, name) FROM STDIN',
      ...(values ? { values, queryMode: 'extended' } : {}),
    }
    await t.throwsAsync(visitor.query(query), { message: /COPY FROM STDIN is not possible/ })
  }
  t.is(await client.prisma.planet.count(), 0)
})

test.serial('a process ends when its database fails, and the next one recovers all commits', async (t) => {
  const { dataDir } = await createEmbedded(t)
  const child = await openElsewhere(t, dataDir)
  const visitor = await connectTo(t, dataDir)
  await visitor.query("INSERT INTO planets (id, name) VALUES ('x', 'X')")
  const ended = once(child, 'exit')
  // A spelling that is not recognised, so it reaches the engine and ends it.
  await t.throwsAsync(visitor.query('COPY planets (id, name) FROM /* me */ STDIN'))
  t.deepEqual(await ended, [1, null])
  const database = await open(t, dataDir)
  t.is(await database.client.prisma.planet.count(), 1)
})
