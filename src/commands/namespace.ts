import { createInterface } from 'node:readline/promises'
import { type Connection, DatabaseRefusedError, parseConnection } from '../database/connection.ts'
import { migrate, migrationState } from '../database/migrations/migrator.ts'
import { withSession } from '../database/migrations/session.ts'
import { createDistributed, moveSchema, type Send, sendBy } from '../database/namespaces/citus.ts'
import {
  addressOf,
  dropSchemas,
  type Place,
  type Registry,
  readRegistry,
  readServed,
  register,
  schemaOf,
  unregister,
} from '../database/namespaces/registry.ts'
import { isNamespaceName, NAMESPACE_NAME } from '../http/namespaces.ts'
import { ArgumentsError, CommandError, databaseConfiguration, runCommand } from '../service/command.ts'
import { type Configuration, patienceOf } from '../service/settings/configuration.ts'

const usage = `Makes, lists, migrates, moves and removes the namespaces of a service with NAMESPACES=many.

  npx halgraph namespace create north
  npx halgraph namespace create north --address postgresql://user:password@host:5432/name
  npx halgraph namespace list
  npx halgraph namespace migrate
  npx halgraph namespace move north --address postgresql://user:password@host:5432/name
  npx halgraph namespace remove north
  npx halgraph namespace address north

  create   makes the schemas and tables of a namespace, or completes what was interrupted
  list     prints each namespace, its server, and whether it can be served
  migrate  applies the pending migrations to all of them, also after one has failed
  move     says where a namespace is now: its schemas must be there already, with all migrations. If it is on a node of
           Citus, moves it to the node at that address, while it is served
  remove   drops the schemas of a namespace with all its rows
  address  prints its address, as DATABASE_URL of the other commands, with its password

  --address  the server; by default that of DATABASE_URL
  --yes      remove without asking for the name

A service notices changes within two seconds. The namespace API_NAMESPACE is the schema of DATABASE_URL itself.`

const options = { address: { type: 'string' }, yes: { type: 'boolean', default: false } } as const

interface Parts {
  readonly configuration: Configuration
  readonly main: Connection
  readonly databaseUrl: string
  readonly folder: string
  readonly registry: Registry
  readonly address?: string | undefined
  readonly yes: boolean
}

type Action = (parts: Parts, name: string) => Promise<void>

const actions: Readonly<Record<string, Action>> = {
  async create(parts, name) {
    const { configuration, main, folder, registry, address } = parts
    if (!isNamespaceName(name ?? '')) throw new ArgumentsError(`${name ?? ''}: ${NAMESPACE_NAME}`)
    if (name === configuration.settings.namespace)
      throw new ArgumentsError(`${name} is API_NAMESPACE, which the schema of DATABASE_URL has already`)
    const known = registry.get(name)
    if (known && address !== undefined && known.address !== address)
      throw new ArgumentsError(`${name} exists at another address; see move`)
    const place = known ?? { schema: schemaOf(name), address }
    // Registered first, so that `list` shows a namespace whose creation was interrupted.
    await inTransaction(main, (send) => register(send, main.schema, name, place.address))
    const connection = connectionOf(parts, place)
    await inTransaction(connection, (send) => createDistributed(send, place.schema))
    await migrate(connection, folder)
    console.log(`Created ${name}`)
  },

  async list(parts) {
    const { main, databaseUrl, registry } = parts
    const served = await inTransaction(main, (send) => readServed(send, main.schema, databaseUrl))
    for (const [name, place] of registry) {
      const { host, pathname } = new URL(served.get(name)?.address ?? databaseUrl)
      console.log(`${name.padEnd(24)} ${host}${pathname}  ${await stateOf(parts, place)}`)
    }
  },

  async migrate(parts) {
    const behind: string[] = []
    for (const [name, place] of parts.registry) {
      try {
        const applied = await migrate(connectionOf(parts, place), parts.folder)
        console.log(`${name}: ${applied.length === 0 ? 'up to date' : `applied ${applied.join(', ')}`}`)
      } catch (error) {
        if (!(error instanceof DatabaseRefusedError)) throw error
        console.error(`${name}: ${error.message}`)
        behind.push(name)
      }
    }
    if (behind.length > 0) throw new CommandError(`Not migrated: ${behind.join(', ')}`)
  },

  async move(parts, name) {
    const { main, address } = parts
    const place = placeOf(parts, name)
    if (address === undefined) throw new ArgumentsError('Pass the new server with --address')
    parseConnection(address)
    const isMoved = await inTransaction(main, (send) => moveSchema(send, place.schema, new URL(address)))
    const state = await stateOf(parts, isMoved ? place : { ...place, address })
    if (state !== READY) throw new CommandError(`${name} cannot be served from there: ${state}`)
    if (!isMoved) await inTransaction(main, (send) => register(send, main.schema, name, address))
    console.log(`${name} is at its new address`)
  },

  async remove(parts, name) {
    const { main, yes } = parts
    const place = placeOf(parts, name)
    if (!yes && (await typedName(name)) !== name) throw new CommandError('Nothing is removed')
    if (place.address !== undefined)
      await inTransaction(parseConnection(place.address), (send) => dropSchemas(send, place))
    await inTransaction(main, async (send) => {
      if (place.address === undefined) await dropSchemas(send, place)
      await unregister(send, main.schema, name)
    })
    console.log(`Removed ${name}`)
  },

  async address(parts, name) {
    console.log(addressOf(placeOf(parts, name), parts.databaseUrl))
  },
}

const READY = 'ready'

function connectionOf({ databaseUrl }: Parts, place: Place): Connection {
  return parseConnection(addressOf(place, databaseUrl))
}

async function stateOf(parts: Parts, place: Place): Promise<string> {
  try {
    const connection = connectionOf(parts, place)
    const { pending, unknown, edited } = await migrationState(connection, parts.folder)
    if (pending.length > 0) return `${pending.length} migrations behind`
    if (unknown.length + edited.length > 0) return 'of another version'
    return READY
  } catch (error) {
    if (!(error instanceof DatabaseRefusedError)) throw error
    return error.message
  }
}

/** @throws {ArgumentsError} */
function placeOf({ registry }: Parts, name: string | undefined): Place {
  const place = registry.get(name ?? '')
  if (place) return place
  throw new ArgumentsError(
    `There is no namespace ${name ?? ''}. Namespaces: ${[...registry.keys()].join(', ')}`,
  )
}

/** @throws {ArgumentsError} without a terminal to ask on */
async function typedName(name: string): Promise<string> {
  if (!process.stdin.isTTY) throw new ArgumentsError(`Pass --yes to remove ${name} with all its rows`)
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  return terminal.question(`Type ${name} to remove it with all its rows: `).finally(() => terminal.close())
}

function inTransaction<Result>(
  connection: Connection,
  work: (send: Send) => Promise<Result>,
): Promise<Result> {
  return withSession(connection, (transact) => transact((client) => work(sendBy(client))))
}

await runCommand(usage, { allowPositionals: true, options }, async ({ values, positionals }) => {
  const [action = '', name, ...others] = positionals
  if (!Object.hasOwn(actions, action) || others.length > 0)
    throw new ArgumentsError(`Pass one of ${Object.keys(actions).join(', ')}, and a name`)
  const configuration = await databaseConfiguration()
  const { settings, domain } = configuration
  const { databaseUrl } = settings
  if (databaseUrl === undefined)
    throw new CommandError('Namespaces need DATABASE_URL: the embedded database has one')
  const main = parseConnection(databaseUrl, patienceOf(settings))
  const registry = await inTransaction(main, (send) => readRegistry(send, main.schema))
  const parts = { configuration, main, databaseUrl, folder: domain.folder.migrations, registry, ...values }
  await actions[action]?.(parts, name as string)
})
