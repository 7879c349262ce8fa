import { execFile } from 'node:child_process'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import pg from 'pg'
import { beginTimeline, keepChanges } from '../../src/domain/recording.ts'
import { readFeed } from '../../src/features/history/feed/read-feed.ts'
import { NOW } from '../../src/features/history/feed/recorded-change.ts'
import { unrestricted } from '../../src/model/access/access.ts'
import { DomainError } from '../../src/model/errors.ts'
import { Random } from '../helpers/access/random.ts'
import { createServerDatabase, createTestFolder, openTestDatabase } from '../helpers/database/database.ts'
import { createOwnServer, findPrograms, type OwnServer } from '../helpers/database/own-server.ts'
import { createDatabaseOn } from '../helpers/database/postgres-server.ts'
import { onServer } from '../helpers/database/replica-pair.ts'
import { resources } from '../helpers/domain/domain.ts'
import { SEED, tries } from '../helpers/process/run.ts'
import { until } from '../helpers/process/until.ts'

const run = promisify(execFile)
const programs = await findPrograms((reason) => console.log(`lives: ${reason}`))
const tool = (name: string, parameters: string[], options = {}) =>
  run(join(programs?.folder ?? '', name), parameters, options)

const HISTORIES = tries(2, 200, 10)
const access = unrestricted('all changes are read')
const IDS = ['ariel', 'belinda', 'cordelia', 'desdemona']

/** A database that is served. All lives begin with the first, by one way or another. */
type Life = Awaited<ReturnType<typeof openTestDatabase>> & { readonly url: string }

/** Has each planet that it knows, with its version, and goes on in whatever life its address leads to. */
type Reader = { planets: Map<string, string>; since: string }

class History {
  readonly #lives: Life[] = []
  readonly #readers: Reader[] = []
  readonly #backups: { readonly name: string; readonly file: string; readonly lives: readonly Life[] }[] = []
  /** What each version of a planet and each position stands for. */
  readonly #contents = new Map<string, string>()
  readonly #releases: (() => Promise<void>)[] = []
  #names = 0

  constructor(
    private readonly random: Random,
    private readonly server: OwnServer,
    private readonly folder: string,
  ) {}

  teardown(release: () => Promise<void>): void {
    this.#releases.push(release)
  }

  async end(): Promise<void> {
    for (const release of this.#releases.reverse()) await release()
  }

  async run(): Promise<void> {
    const { random } = this
    await this.#serve(await createDatabaseOn(this.server.address, this))
    const recover = await this.server.backup(this)
    const [first] = this.#lives as [Life]
    await this.#backUp(first)
    this.#readers.push(await readAll(first))
    for (let step = 0; step < 16; step++) {
      const life = random.pick(this.#lives)
      await random.weighted([
        [6, () => this.#write(life)],
        [2, async () => void this.#readers.push(await readAll(life))],
        [3, () => this.#follow(random.pick(this.#readers), life)],
        [2, () => this.#backUp(life)],
        [3, () => this.#restore()],
        [1, () => this.#recoverTwice(recover)],
        [1, () => this.#switch(life)],
        [1, () => this.#import()],
      ])()
    }
    for (const life of this.#lives) {
      await this.#write(life)
      for (const reader of this.#readers) await this.#follow(reader, life)
      await this.#observe(life)
    }
  }

  /** Opens a database as the service does, if it was restored after `npx halgraph restored`. */
  async #serve(url: string, isRestored = false): Promise<void> {
    const options = { databaseUrl: url, dataDir: this.folder, databasePoolSize: 2, migrateOnStart: false }
    const database = await openTestDatabase(options)
    this.teardown(database.close)
    if (isRestored) await beginTimeline(database.client)
    await keepChanges(database.client, 30, resources)
    this.#lives.push({ ...database, url })
    await this.#write({ ...database, url })
  }

  /** Each name is another. Some writes are those of readers, which must not overwrite what they have not read. */
  async #write(life: Life): Promise<void> {
    const { random } = this
    for (let write = 0; write < 1 + random.below(4); write++) {
      const id = random.pick(IDS)
      const before = (await planetsOf(life)).get(id)
      const read = random.pick([...this.#readers, undefined])?.planets.get(id)
      const condition = read === undefined ? '' : `AND version = ${read.split(' ')[0]}`
      const name = `'Name-${++this.#names}'`
      const change = random.chance(0.2) ? 'DELETE FROM planets' : `UPDATE planets SET name = ${name}`
      const { rowCount } = await life.pool.query(`${change} WHERE id = '${id}' ${condition}`)
      if (read !== undefined && rowCount === 1 && read !== before)
        throw new Error(`${id} was ${before}, and overwritten by one who had read ${read}`)
      const creation = `INSERT INTO planets (id, name) VALUES ('${id}', ${name})`
      if (before === undefined) await life.pool.query(creation)
    }
  }

  /** The feed tells it each change, or that it must read again: then it has what is there. */
  async #follow(reader: Reader, life: Life): Promise<void> {
    for (let hasMore = true; hasMore; ) {
      const page = await pageOf(life, reader.since)
      if (!page) return void Object.assign(reader, await readAll(life))
      for (const { key, version, event, row } of page.changes) {
        if (event === 'deleted') reader.planets.delete(key.id)
        else reader.planets.set(key.id, `${version} ${row?.['name']}`)
      }
      reader.since = page.next
      hasMore = page.hasMore
    }
    const [read, stored] = [text(reader.planets), text(await planetsOf(life))]
    if (read !== stored) throw new Error(`a reader has ${read}, although ${stored} is stored`)
  }

  async #observe({ pool }: Life): Promise<void> {
    const text = `SELECT id || ':' || version AS number, to_jsonb(planets) AS content FROM planets
      UNION ALL SELECT id || ':' || version, resource FROM recorded_changes WHERE resource IS NOT NULL
      UNION ALL SELECT position::text, to_jsonb(ARRAY[id, version::text, event]) FROM recorded_changes WHERE position > 0`
    for (const { number, content } of (await pool.query(text)).rows) {
      const [known, read] = [this.#contents.get(number), JSON.stringify(content)]
      if (known !== undefined && known !== read) throw new Error(`${number} stands for ${known} and ${read}`)
      this.#contents.set(number, read)
    }
  }

  /** A dump of a database, and a moment to which the server can be brought back, with all its databases. */
  async #backUp({ url }: Life): Promise<void> {
    const { address } = this.server
    const name = `backup-${this.#backups.length}`
    const lives = this.#lives.filter((life) => new URL(life.url).port === new URL(address).port)
    const file = join(this.folder, name)
    this.#backups.push({ file, name, lives })
    await tool('pg_dump', ['-Fc', '-f', file, url])
    const [made] = (await ask(address, `SELECT pg_walfile_name(pg_create_restore_point('${name}')) AS file`))
      .rows
    await ask(address, 'SELECT pg_switch_wal()')
    await untilRow(address, `SELECT FROM pg_stat_archiver WHERE last_archived_wal >= '${made.file}'`)
  }

  async #restore(): Promise<void> {
    const url = await createServerDatabase(this.server.address, this)
    await tool('pg_restore', ['-e', '-d', url, this.random.pick(this.#backups).file])
    await this.#serve(url, true)
  }

  /** Neither attempt archives its history, so both are one timeline. */
  async #recoverTwice(recover: (settings: string[]) => Promise<OwnServer>): Promise<void> {
    const { name, lives } = this.random.pick(this.#backups)
    const { url } = this.random.pick(lives)
    const settings = [`recovery_target_name=${name}`, 'recovery_target_action=promote', 'archive_mode=off']
    for (let attempt = 0; attempt < 2; attempt++) {
      const server = await recover(settings)
      await untilRow(server.address, 'SELECT WHERE NOT pg_is_in_recovery()')
      await this.#serve(onServer(url, server))
    }
  }

  /** Logical replication. The last writes to the former life may be missing in the next one. */
  async #switch(life: Life): Promise<void> {
    const url = await createServerDatabase(this.server.address, this)
    const schema = join(this.folder, 'schema')
    await tool('pg_dump', ['-s', '-Fc', '-f', schema, life.url])
    await tool('pg_restore', ['-e', '-d', url, schema])
    const name = url.slice(-16)
    await ask(life.url, `CREATE PUBLICATION "${name}" FOR ALL TABLES`)
    await ask(life.url, `SELECT pg_create_logical_replication_slot('${name}', 'pgoutput')`)
    const how = `CONNECTION '${life.url}' PUBLICATION "${name}" WITH (create_slot = false)`
    await ask(url, `CREATE SUBSCRIPTION "${name}" ${how}`)
    await untilRow(url, "SELECT FROM pg_subscription_rel HAVING bool_and(srsubstate = 'r')")
    await this.#write(life)
    for (const end of ['DISABLE', 'SET (slot_name = NONE)'])
      await ask(url, `ALTER SUBSCRIPTION "${name}" ${end}`)
    await ask(url, `DROP SUBSCRIPTION "${name}"`)
    const slot = `FROM pg_replication_slots WHERE slot_name = '${name}' AND NOT active`
    await untilRow(life.url, `SELECT pg_drop_replication_slot(slot_name) ${slot}`)
    await ask(life.url, `DROP PUBLICATION "${name}"`)
    await this.#serve(url, true)
  }

  /** Rows in migrated tables without their triggers, twice: the first attempt is killed. The feed keeps the row that it has. */
  async #import(): Promise<void> {
    const parameters = ['-a', '--disable-triggers', this.random.pick(this.#backups).file, '-d']
    const url = await createDatabaseOn(this.server.address, this)
    for (const timeout of [1 + this.random.below(200), 0]) {
      await tool('pg_restore', [...parameters, url], { timeout, killSignal: 'SIGKILL' }).catch(() => {})
      const others = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`
      await untilRow(url, `SELECT WHERE NOT EXISTS (${others})`)
    }
    await this.#serve(url, true)
  }
}

const text = (planets: ReadonlyMap<string, string>) => JSON.stringify([...planets].sort())

async function planetsOf({ pool }: Life): Promise<Map<string, string>> {
  const { rows } = await pool.query("SELECT id, version || ' ' || name AS state FROM planets")
  return new Map(rows.map(({ id, state }) => [id, state]))
}

/** Undefined if it is gone. */
const pageOf = ({ client }: Life, since: string) =>
  readFeed({ client, changesDays: 30 }, { resources, access, since, limit: 3 }).catch((error) => {
    if (!(error instanceof DomainError && error.code === 'RESOURCE_GONE')) throw error
  })

async function readAll(life: Life): Promise<Reader> {
  const since = (await pageOf(life, NOW))?.next ?? ''
  return { planets: await planetsOf(life), since }
}

async function ask(connectionString: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  return client.query(text).finally(() => client.end())
}

const untilRow = (url: string, text: string) => until(async () => (await ask(url, text)).rowCount === 1)

test('whatever was restored, no number stands for two contents, and no reader misses a change', async (t) => {
  if (!programs) return t.pass('there are no programs of PostgreSQL')
  t.timeout(7_200_000)
  t.log(`${HISTORIES} histories, seeds from ${SEED}`)
  const folder = await createTestFolder(t)
  const archive = [`archive_command=cp %p ${folder}/%f`, `restore_command=cp ${folder}/%f %p`]
  const settings = ['archive_mode=on', ...archive, 'wal_level=logical', 'fsync=off', 'shared_buffers=16MB']
  const server = await createOwnServer(t, programs, settings, folder)
  const failures: string[] = []
  for (let seed = SEED; seed < SEED + HISTORIES; seed++) {
    const history = new History(new Random(seed), server, folder)
    const run = history.run().catch((error) => failures.push(`TEST_SEED=${seed}: ${error.stack}`))
    await run.finally(() => history.end())
    for (const name of await readdir(folder)) if (name !== 'server') await rm(join(folder, name))
  }
  t.deepEqual(failures, [])
})
