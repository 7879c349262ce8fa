import assert from 'node:assert/strict'
import { type Connection, type Scenario, scenarios } from './scenarios.ts'
import { participants, type Running } from './servers.ts'

/** What is left of a resource when what must differ is taken away. */
type Json = Record<string, unknown>

/** In the responses to creations. */
const DIFFERENT = new Set([
  'id',
  'scientific_name',
  'discovered_date',
  'last_updated',
  'ETag',
  'Last-Modified',
  'Location',
])

/**
 * Asks every contender the same things and compares status, headers and documents.
 *
 * @throws {AssertionError} where one answers differently from the first
 */
export async function checkEqualAnswers(
  running: readonly Running[],
  token: string,
  rows: number,
  { prepare, clean }: Record<'prepare' | 'clean', (server: Running) => Promise<void>>,
): Promise<void> {
  // The first request of a process takes a second of processor: on a busy machine, the service refuses it as too late.
  for (const server of running) await ask(server, scenarios[0] as Scenario, token, rows)
  for (const scenario of scenarios) {
    const asked = participants(running, scenario)
    if (scenario.deletes) for (const server of asked) await prepare(server)
    const answers: unknown[] = []
    for (const server of asked) answers.push(await ask(server, scenario, token, rows))
    for (const [index, answer] of answers.entries()) {
      assert.deepEqual(
        answer,
        answers[0],
        `${asked[index]?.name} and ${asked[0]?.name} differ on ${scenario.title}`,
      )
    }
    if (scenario.writes) for (const server of asked) await clean(server)
  }
}

async function ask({ origin }: Running, scenario: Scenario, token: string, rows: number): Promise<unknown> {
  // Those on one database must not take each other's names or overtake each other's changes.
  const state: Connection = {
    number: taken++,
    count: scenario.name === 'mixed' ? 6 : 1,
    entityTag: undefined,
  }
  const exchange = async (sent: ReturnType<Scenario['next']>) => {
    const { method, path, headers, body } = sent
    const response = await fetch(origin + path, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    state.entityTag = response.headers.get('ETag') ?? state.entityTag
    const text = await response.text()
    const document = text === '' ? undefined : comparable(JSON.parse(text.replaceAll(origin, '')), scenario)
    return {
      status: response.status,
      location: response.headers.has('Location'),
      tagged: response.headers.has('ETag') && response.headers.has('Last-Modified'),
      document,
    }
  }
  if (scenario.first) await exchange(scenario.first(state))
  const random = Math.random
  Math.random = () => 0.5
  const answer = exchange(scenario.next(state, rows))
  Math.random = random
  return answer
}

let taken = 0

/** Links of the service carry a cursor, which peers without one need not have. */
function comparable(document: Json, { name: scenario }: Scenario): unknown {
  const creates = scenario === 'post' || scenario === 'batch'
  return JSON.parse(JSON.stringify(document), (name, value) => {
    if (creates && DIFFERENT.has(name)) return typeof value
    if (name !== 'href') return value
    const href = value.replace(/&cursor=[^&]*/, '')
    return creates ? href.replace(/[0-9a-f-]{36}/, 'id') : href
  })
}
