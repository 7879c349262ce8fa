import { randomUUID } from 'node:crypto'
import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { foundMark, markedSpecies } from '../../test/helpers/load/kill.ts'
import { type Outcome, type Sent, send } from '../../test/helpers/load/load.ts'
import { processToken } from '../../test/helpers/service/service-process.ts'
import { History } from './history.ts'
import { type Observations, Observer } from './observer.ts'
import { COLLECTION, listed, queried, type ReadOfMany } from './read-many.ts'

const WRITERS = 24
const READERS = 4
const SPECIES_PER_WRITER = 3
const PAUSE_MILLISECONDS = 10

/** How many species a reader asks for at once. */
const LISTED = 10

/** A read may be older than the writes of others by so much: half of the default of REPLICA_LAG, and a poll. */
const LAG_MILLISECONDS = 3_000

/** Writers and readers of a service who check every response. */
export interface Load {
  readonly observations: Observations
  start(): void
  /** Resolves when every caller has its response. */
  stop(): Promise<void>
  /** Forgets what was observed, except for what was written. */
  reset(): void
}

/** Makes the callers. Each one has one connection, so that it stays with one process of the service. */
export function createLoad(origin: string): Load {
  const observer = new Observer()
  const create = (Kind: typeof Writer | typeof Reader, count: number) =>
    Array.from(
      { length: count },
      (_, number) => new Kind(origin, `${Kind.name}-${number}`.toLowerCase(), observer),
    )
  const callers = [...create(Writer, WRITERS), ...create(Reader, READERS)]
  let isOver = false
  let running: Promise<unknown> = Promise.resolve()
  const run = async (caller: Caller) => {
    while (!isOver) {
      await caller.next()
      await delay(PAUSE_MILLISECONDS)
    }
  }
  return {
    observations: observer,
    reset: () => observer.reset(),
    start() {
      isOver = false
      running = Promise.all(callers.map(run)).catch((error) => observer.object(`a caller: ${error.stack}`))
    },
    async stop() {
      isOver = true
      await running
    },
  }
}

abstract class Caller {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #token: string

  constructor(
    private readonly origin: string,
    protected readonly name: string,
    protected readonly observer: Observer,
  ) {
    this.#token = processToken(name)
  }

  abstract next(): Promise<void>

  protected async ask(sent: Sent): Promise<Outcome> {
    const headers = { ...sent.headers, authorization: `Bearer ${this.#token}` }
    const started = performance.now()
    const outcome = await send(this.origin, { ...sent, headers }, this.#agent)
    this.observer.note(outcome, performance.now() - started)
    return outcome
  }

  /** Objects to a response that is neither one of these nor 503. */
  protected expect({ method, path }: Sent, outcome: Outcome, statuses: readonly number[]): boolean {
    const isRefused = outcome.kind === 'answered' && outcome.status === 503
    const isRight = outcome.kind === 'answered' && statuses.includes(outcome.status)
    if (!isRight && !isRefused)
      this.observer.object(`${this.name}: ${method} ${path}: ${JSON.stringify(outcome)}`)
    return isRight
  }
}

/**
 * Creates, replaces, patches and deletes its own species, and reads some afterwards. After a write without a response it
 * goes on with another species, so that most writers have a write in flight at any time.
 */
class Writer extends Caller {
  readonly #tags = new Map<string, string>()
  #number = 0

  async next(): Promise<void> {
    const number = this.#number++
    if (number % 10 === 9) return this.#create(number)
    const id = `${this.name}-${number % SPECIES_PER_WRITER}`
    const history = this.observer.histories.get(id) ?? new History(id)
    this.observer.histories.set(id, history)
    const request = this.#request(history, number)
    this.#tags.delete(id)
    const happened = history.send(request.mark)
    const outcome = await this.#write(request)
    if (!this.expect(request, outcome, request.expected)) return
    happened()
    this.observer.acknowledge()
    if (number % 2 === 0) await this.#read(history)
  }

  async #write(request: Sent): Promise<Outcome> {
    this.observer.writing++
    try {
      return await this.ask(request)
    } finally {
      this.observer.writing--
    }
  }

  #request(history: History, number: number): Sent & { mark: string | null; expected: number[] } {
    const path = `${COLLECTION}/${history.id}`
    const mark = `m${number}`
    const body = markedSpecies(history.id, mark)
    const put = { method: 'PUT', path, body, mark }
    if (!history.isCertain) return { ...put, expected: [200, 201, 204] }
    if (history.mark === null) return { ...put, expected: [201] }
    if (number % 7 === 0) return { method: 'DELETE', path, mark: null, expected: [204] }
    const tag = this.#tags.get(history.id)
    if (tag === undefined) return { ...put, expected: [200, 204] }
    return { method: 'PATCH', path, body, headers: { 'if-match': tag }, mark, expected: [200, 204] }
  }

  /** Reads its own write. */
  async #read(history: History): Promise<void> {
    const request = { method: 'GET', path: `${COLLECTION}/${history.id}` }
    const outcome = await this.ask(request)
    if (!this.expect(request, outcome, [200, 404, 410])) return
    this.observer.object(prefixed(this.name, history.decide(foundMark(outcome))))
    const tag = noteTag(this.observer, outcome)
    if (tag !== undefined) this.#tags.set(history.id, tag)
  }

  /** Repeats a POST with its idempotency key until there is a response. */
  async #create(number: number): Promise<void> {
    const name = `${this.name} created ${number}`
    const request = {
      method: 'POST',
      path: COLLECTION,
      body: { scientific_name: name },
      headers: { 'idempotency-key': randomUUID() },
    }
    while (!this.expect(request, await this.#write(request), [201])) await delay(PAUSE_MILLISECONDS)
    this.observer.created.push(name)
    this.observer.acknowledge()
  }
}

/** Reads the species of all writers: singly and conditionally, in lists, and through GraphQL. */
class Reader extends Caller {
  readonly #seen = new Map<string, { readonly tag: string; readonly mark: string | null }>()
  #number = 0

  async next(): Promise<void> {
    const number = this.#number++
    const histories = [...this.observer.histories.values()]
    const place = Math.floor(Math.random() * histories.length)
    const history = histories[place]
    if (!history) return
    if (number % 2 === 0) await this.#readOne(history)
    else await this.#readMany(histories.slice(place, place + LISTED), number % 4 === 1 ? listed : queried)
  }

  async #readOne(history: History): Promise<void> {
    const started = performance.now()
    const seen = this.#seen.get(history.id)
    const headers: Record<string, string> = seen ? { 'if-none-match': seen.tag } : {}
    const request = { method: 'GET', path: `${COLLECTION}/${history.id}`, headers }
    const outcome = await this.ask(request)
    if (!this.expect(request, outcome, seen ? [200, 304, 404, 410] : [200, 404, 410])) return
    const isUnchanged = outcome.kind === 'answered' && outcome.status === 304
    const mark = isUnchanged ? (seen?.mark ?? null) : foundMark(outcome)
    this.observer.object(prefixed(this.name, history.check(mark, started, LAG_MILLISECONDS)))
    const tag = isUnchanged ? seen?.tag : noteTag(this.observer, outcome)
    if (tag === undefined) this.#seen.delete(history.id)
    else this.#seen.set(history.id, { tag, mark })
  }

  async #readMany(histories: readonly History[], { requestFor, marksIn }: ReadOfMany): Promise<void> {
    const started = performance.now()
    const request = requestFor(histories.map(({ id }) => id))
    const outcome = await this.ask(request)
    if (!this.expect(request, outcome, [200])) return
    const marks = marksIn(outcome)
    if (marks === undefined) return
    for (const history of histories) {
      const mark = marks.get(history.id) ?? null
      const problem = history.check(mark, started, LAG_MILLISECONDS)
      this.observer.object(prefixed(`${this.name}: ${request.path.split('?', 1)}`, problem))
    }
  }
}

function prefixed(name: string, problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : `${name}: ${problem}`
}

function noteTag(observer: Observer, outcome: Outcome): string | undefined {
  if (outcome.kind !== 'answered' || outcome.status !== 200) return undefined
  const tag = outcome.headers['etag'] as string
  observer.compareTag(tag, outcome.body)
  return tag
}
