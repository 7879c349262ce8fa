import { Agent } from 'node:http'
import type { Json } from '../service/client.ts'
import { type Outcome, type Sent, send } from './load.ts'

/** What so many callers did, and what contradicts the contract. */
export interface WorkResult {
  readonly requests: number
  readonly problems: readonly string[]
}

const BASE = '/api/v1'

/**
 * Lets callers work on the same resources over several services of one database: conditional writes that race, POSTs
 * with the same idempotency key, values that a session with other settings would change, lists, aggregates and
 * deletions. Then compares what is stored with what was acknowledged.
 */
export async function workTogether(
  origins: readonly string[],
  callers: number,
  rounds: number,
): Promise<WorkResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: callers })
  const work = new Work((number, sent) => send(origins[number % origins.length] as string, sent, agent))
  try {
    return await work.run(callers, rounds)
  } finally {
    agent.destroy()
  }
}

/** The answer to a request, or that there was none. */
interface Heard {
  readonly status: number | 'refused' | 'lost'
  readonly headers: Record<string, unknown>
  readonly body: Json
}

type SendAs = (number: number, sent: Sent) => Promise<Outcome>

class Work {
  readonly #send: SendAs
  readonly #problems: string[] = []
  /** Acknowledged increments of each counter. */
  readonly #increments = new Map<string, number>()
  /** The resource that each idempotency key created. */
  readonly #created = new Map<string, string>()
  #requests = 0

  constructor(send: SendAs) {
    this.#send = send
  }

  async run(callers: number, rounds: number): Promise<WorkResult> {
    const counters = Array.from({ length: Math.ceil(callers / 8) }, (_, number) => `counter-${number}`)
    for (const id of counters) {
      await this.#expect(0, 201, {
        method: 'PUT',
        path: `/planets/${id}`,
        body: { id, name: id, orbital_period_days: 1 },
      })
    }
    const call = async (caller: number) => {
      for (let round = 0; round < rounds; round++) {
        await this.#increment(caller, counters[caller % counters.length] as string)
        await this.#createOnce(caller, `craft ${round} ${Math.floor(caller / 2)}`)
        await this.#storeMoment(caller, round)
        await this.#createAndDelete(caller, `fleeting ${round} ${caller}`)
      }
    }
    await Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)))
    await this.#compare(counters, callers, rounds)
    return { requests: this.#requests, problems: this.#problems }
  }

  /** Adds one, on the condition that no other caller was faster. */
  async #increment(caller: number, id: string): Promise<void> {
    const path = `/planets/${id}`
    const { headers, body } = await this.#expect(caller, 200, { method: 'GET', path })
    const outcome = await this.#ask(caller, {
      method: 'PATCH',
      path,
      body: { orbital_period_days: body.orbital_period_days + 1 },
      headers: { 'if-match': String(headers['etag']) },
    })
    if (outcome.status === 204) this.#increments.set(id, (this.#increments.get(id) ?? 0) + 1)
    else if (outcome.status !== 409) this.#problems.push(`PATCH ${path}: ${outcome.status}`)
  }

  /** Two callers send each key at about the same time. */
  async #createOnce(caller: number, name: string): Promise<void> {
    const { body } = await this.#expect(caller, 201, {
      method: 'POST',
      path: '/spacecraft',
      body: { name, kind: 'lander' },
      headers: { 'idempotency-key': `"${name.replaceAll(' ', '-')}"` },
    })
    const first = this.#created.get(name) ?? body.id
    this.#created.set(name, first)
    if (first !== body.id) this.#problems.push(`the key of ${name} created ${first} and ${body.id}`)
  }

  async #storeMoment(caller: number, round: number): Promise<void> {
    const launch_date = new Date(Date.UTC(1850 + round, caller % 12, 3, 1, caller % 60, 7, 900)).toISOString()
    const name = `Leaves ${caller} ${round}`
    const objective = 'Look \\ — 見る'
    const mission = { name, launch_date, objective }
    const { body } = await this.#expect(caller, 201, { method: 'POST', path: '/missions', body: mission })
    const { body: read } = await this.#expect(caller + 1, 200, {
      method: 'GET',
      path: `/missions/${body.id}`,
    })
    if (read.launch_date !== launch_date || read.objective !== objective)
      this.#problems.push(`${name} became ${read.launch_date}, ${read.objective}`)
    if (Math.abs(Date.parse(read.created_date) - Date.now()) > 300_000)
      this.#problems.push(`${name} was created at ${read.created_date}`)
    const filter = encodeURIComponent(launch_date)
    const list = await this.#expect(caller, 200, {
      method: 'GET',
      path: `/missions?filter=launch_date:${filter}&limit=100`,
    })
    if (list.body.total_count < 1) this.#problems.push(`no mission at ${launch_date}`)
  }

  async #createAndDelete(caller: number, name: string): Promise<void> {
    const { body } = await this.#expect(caller, 201, { method: 'POST', path: '/planets', body: { name } })
    const path = `/planets/${body.id}`
    await this.#expect(caller + 1, 204, { method: 'DELETE', path })
    await this.#expect(caller, 410, { method: 'GET', path })
  }

  async #compare(counters: readonly string[], callers: number, rounds: number): Promise<void> {
    for (const id of counters) {
      const { body } = await this.#expect(0, 200, { method: 'GET', path: `/planets/${id}` })
      const expected = 1 + (this.#increments.get(id) ?? 0)
      if (body.orbital_period_days !== expected)
        this.#problems.push(`${id} is ${body.orbital_period_days}, ${expected} was acknowledged`)
    }
    const counts = { planets: counters.length, spacecraft: this.#created.size, missions: callers * rounds }
    for (const [path, expected] of Object.entries(counts)) {
      const { body } = await this.#expect(0, 200, { method: 'GET', path: `/${path}` })
      if (body.total_count !== expected)
        this.#problems.push(`${body.total_count} ${path}, ${expected} were acknowledged`)
    }
    const query = '{ missionAggregate(groupByTime: { field: LAUNCH_DATE, unit: YEAR }) { groups { count } } }'
    const { status, body } = await this.#ask(0, { method: 'POST', path: '/graphql', body: { query } })
    const groups = body?.data?.missionAggregate.groups.map(({ count }: { count: number }) => count)
    if (status !== 200 || groups?.some((count: number) => count !== callers) || groups?.length !== rounds)
      this.#problems.push(`the aggregate is ${JSON.stringify(body)}`)
  }

  async #expect(caller: number, status: number, sent: Sent) {
    const answer = await this.#ask(caller, sent)
    if (answer.status !== status)
      this.#problems.push(`${sent.method} ${sent.path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer
  }

  async #ask(caller: number, sent: Sent): Promise<Heard> {
    this.#requests++
    const path = sent.path === '/graphql' ? sent.path : BASE + sent.path
    const outcome = await this.#send(caller, { ...sent, path })
    if (outcome.kind !== 'answered') return { status: outcome.kind, headers: {}, body: {} }
    const body: Json = outcome.body === '' ? {} : JSON.parse(outcome.body)
    return { status: outcome.status, headers: outcome.headers, body }
  }
}
