import assert from 'node:assert/strict'
import { type Connection, type Scenario, scenarios } from './scenarios.ts'
import { participants, type Running } from './servers.ts'

/** What is left of a resource when what must differ is taken away. */
type Json = Record<string, unknown>

const DIFFERENT = new Set(['id', 'discovered_date', 'last_updated', 'discoveredDate', 'lastUpdated'])

/**
 * Asks every contender the same things and compares status, headers and documents.
 *
 * @throws {AssertionError} where one answers differently from the first
 */
export async function checkEqualAnswers(
  running: readonly Running[],
  token: string,
  rows: number,
  clean: (server: Running) => Promise<void>,
): Promise<void> {
  for (const scenario of scenarios) {
    const asked = participants(running, scenario)
    const answers = await Promise.all(asked.map((server) => ask(server, scenario, token, rows)))
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

async function ask(
  { origin, dataDir }: Running,
  scenario: Scenario,
  token: string,
  rows: number,
): Promise<unknown> {
  const writes = scenario.status === 201 || scenario.status === 204
  // Those on one database must not take each other's names or overtake each other's changes.
  const number = writes && dataDir === undefined ? taken++ : 0
  const state: Connection = { number, count: scenario.name === 'mixed' ? 6 : 1, entityTag: undefined }
  const exchange = async (sent: ReturnType<Scenario['next']>) => {
    const { method, path, headers, body } = sent
    const response = await fetch(origin + path, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...headers },
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
function comparable(document: Json, { status }: Scenario): unknown {
  return JSON.parse(JSON.stringify(document), (name, value) => {
    if (name === 'href') return withoutIdentifier(value.replace(/&cursor=[^&]*/, ''), status)
    if (status === 201 && (DIFFERENT.has(name) || name === 'scientific_name')) return typeof value
    return value
  })
}

function withoutIdentifier(href: string, status: number): string {
  return status === 201 ? href.replace(/[0-9a-f-]{36}/, 'id') : href
}
