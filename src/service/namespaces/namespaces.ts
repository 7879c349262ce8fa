import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { type Database, openDatabase } from '../../database/database.ts'
import { lackOfParts, refuseDamaged } from '../../database/migrations/parts.ts'
import { addressOf, type Place } from '../../database/namespaces/registry.ts'
import type { createSharedPools } from '../../database/namespaces/shared-pools.ts'
import { startKeyExpiry } from '../../domain/idempotency.ts'
import type { Namespace } from '../../model/access/caller.ts'
import { DomainError } from '../../model/errors.ts'
import { type Configuration, databaseOptions } from '../settings/configuration.ts'
import { enterOpened, listNamespaces, type Opened } from './access.ts'
import { knownNames } from './known-names.ts'

/** How long a namespace that could not be opened is not tried again. */
const FAILURE_MILLISECONDS = 1_000

/** How long an unused namespace stays open, and the time between two checks. */
const IDLE_MILLISECONDS = 300_000
const CHECK_MILLISECONDS = 30_000

/** How often a namespace that is closed asks whether requests use it. */
const LEFT_MILLISECONDS = 100

/** What the application starts and ends on the database of a namespace. */
type Open = (namespace: Namespace, database: Database) => Promise<() => void>

interface Entry {
  readonly place: Place
  readonly opening: Promise<Opened>
  /** Requests that use it. */
  uses: number
  usedAt: number
}

export type Namespaces = ReturnType<typeof createNamespaces>

/**
 * The namespaces of a service that has several. Each is opened at its first use, and closed after it was unused for some
 * time, or when another one needs its place. The first, API_NAMESPACE, has the schema of DATABASE_URL and stays open.
 */
export function createNamespaces(
  configuration: Configuration & { readonly reportFault: (error: unknown) => void },
  main: Database,
  apiVersion: string,
  { poolOf }: ReturnType<typeof createSharedPools>,
) {
  const { settings } = configuration
  const own: Namespace = { name: settings.namespace }
  // A request does not wait for a server that is starting.
  const { patience: _, ...options } = databaseOptions(configuration)
  const entries = new Map<string, Entry>()
  let startFeatures: Open

  const names = knownNames(main, (known) => {
    for (const [name, entry] of entries)
      if (!isDeepStrictEqual(known.get(name), entry.place)) void close(name, entry)
  })

  async function open(name: string, place: Place): Promise<Opened> {
    const databaseUrl = addressOf(place, settings.databaseUrl as string)
    const database = await openDatabase({ ...options, databaseUrl, poolOf })
    const namespace = { name }
    try {
      await refuseDamaged(database.pool)
      const stop = await startFeatures(namespace, database)
      const stopExpiry = startKeyExpiry(database.client, settings.idempotencyKeyHours)
      return {
        namespace,
        database,
        stop() {
          stop()
          stopExpiry()
        },
      }
    } catch (error) {
      await database.close()
      throw lackOfParts(error)
    }
  }

  /** Its connections end when no request uses them. */
  async function close(name: string, entry: Entry): Promise<void> {
    if (entries.get(name) === entry) entries.delete(name)
    const opened = await entry.opening.catch(() => undefined)
    opened?.stop()
    while (entry.uses > 0) await delay(LEFT_MILLISECONDS, undefined, { ref: false })
    await opened?.database.close()
  }

  function makeRoom(): void {
    if (entries.size < settings.namespacesOpen) return
    const [oldest] = [...entries]
      .filter(([, { uses }]) => uses === 0)
      .sort(([, a], [, b]) => a.usedAt - b.usedAt)
    if (!oldest) throw new DomainError('SERVICE_UNAVAILABLE', 'Too many namespaces are in use. Try again.')
    void close(...oldest)
  }

  /** @throws {DomainError} RESOURCE_NOT_FOUND (404), SERVICE_UNAVAILABLE (503) */
  async function entryOf(name: string): Promise<Entry> {
    const known = await names()
    const place = known.get(name)
    if (!place) throw new DomainError('RESOURCE_NOT_FOUND', `There is no namespace ${name}.`)
    const existing = entries.get(name)
    if (existing) return existing
    makeRoom()
    const entry: Entry = { place, opening: open(name, place), uses: 0, usedAt: performance.now() }
    entries.set(name, entry)
    entry.opening.catch(async (error) => {
      configuration.reportFault(error)
      await delay(FAILURE_MILLISECONDS, undefined, { ref: false })
      if (entries.get(name) === entry) entries.delete(name)
    })
    return entry
  }

  /** Opens a namespace for a request, which calls `end` at its end. */
  async function use(name: string): Promise<Opened & { readonly end: () => void }> {
    if (name === own.name) return { namespace: own, database: main, stop() {}, end() {} }
    const entry = await entryOf(name)
    entry.uses++
    const end = () => {
      entry.uses--
      entry.usedAt = performance.now()
    }
    try {
      return { ...(await entry.opening), end }
    } catch (cause) {
      end()
      const message = `The namespace ${name} cannot be served at the moment. Try again later.`
      throw Object.assign(new DomainError('SERVICE_UNAVAILABLE', message), { cause })
    }
  }

  const checking = setInterval(() => {
    for (const [name, entry] of entries)
      if (entry.uses === 0 && performance.now() - entry.usedAt > IDLE_MILLISECONDS) void close(name, entry)
  }, CHECK_MILLISECONDS).unref()

  return {
    own,
    enter: enterOpened(settings.namespaceClaim, use),
    list: listNamespaces({ ...settings, apiVersion }, async () => [own.name, ...(await names()).keys()]),
    /** Rejects if the database of a namespace does not respond. */
    async check(name: string): Promise<void> {
      const { database, end } = await use(name)
      await database.check().finally(end)
    },
    /** To call before the first request. */
    startWith(start: Open): void {
      startFeatures = start
    },
    stop(): void {
      clearInterval(checking)
      for (const { opening } of entries.values()) void opening.then(({ stop }) => stop()).catch(() => {})
    },
    async close(): Promise<void> {
      await Promise.allSettled([...entries].map(([name, entry]) => close(name, entry)))
    },
  }
}
