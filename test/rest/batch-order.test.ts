import { deepStrictEqual } from 'node:assert'
import test from 'ava'
import {
  asMutation,
  asRequest,
  existingWrites,
  type RandomWrite,
  randomWrites,
} from '../helpers/domain/random-writes.ts'
import { fc, tries } from '../helpers/process/run.ts'
import type { Json } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

// Executes random writes together and one after the other, each time on resources of their own that are otherwise equal.

const RUNS = tries(50, 600)

const service = shareTestService(test)

interface Result {
  readonly results?: readonly Json[]
  /** The index and the error of the first write that failed. */
  readonly failure?: readonly [index: number, error: Json]
}

type Execution = (writes: readonly RandomWrite[]) => Promise<Result>

let executions = 0

/** The result and, after a success, the state of the resources, without what differs between equal executions. */
async function outcomeOf(writes: readonly RandomWrite[], execute: Execution): Promise<Result> {
  executions += 1
  const name = `e${executions}`
  const own = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value).replaceAll('§', name))
  const common = (value: Json): Json =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll(service().base, '')
        .replace(/[\da-f]{8}-[\da-f-]{27}/g, 'generated')
        .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
        .replaceAll(name, '§'),
    )
  await service().writer.post('/batch', { operations: own(existingWrites).map(asRequest) })
  const result = await execute(own(writes))
  return { ...common(result), ...(result.results && { state: sorted(common(await stateOf(name))) }) }
}

/** Sorts lists. Resources of one transaction have the same time, so their identifiers decide the order. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) {
    const texts = value.map((item) => JSON.stringify(sorted(item)))
    return texts.sort().map((text) => JSON.parse(text))
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, sorted(member)]))
}

const STATE = `query ($named: StringFilter) {
  planetPage(filter: { name: $named }, sort: [{ field: NAME }]) {
    items { id version name hostStar moons(limit: 8) { items { id version name } } }
  }
  speciesPage(filter: { scientificName: $named }, sort: [{ field: SCIENTIFIC_NAME }]) {
    items { id version scientificName habitat planetOrigin planet { id name } }
  }
  missionPage(filter: { name: $named }, limit: 8, sort: [{ field: NAME }]) {
    items { id version name status crew(limit: 8) { items { id astronaut { id currentMissionId } } } }
  }
}`

async function stateOf(name: string): Promise<Json> {
  const { data, errors } = await service().reader.graphql(STATE, { named: { startsWith: `${name} ` } })
  if (errors) throw new Error(JSON.stringify(errors))
  return data
}

const asBatch: Execution = async (writes) => {
  const { status, body } = await service().writer.post('/batch', { operations: writes.map(asRequest) })
  if (status === 200) {
    return { results: body.results.map(({ status, headers, body }: Json) => [status, headers.ETag, body]) }
  }
  const [prefix = '', index] = /^operations\[(\d+)\]/.exec(body.error.message) ?? []
  const text = JSON.stringify(body.error).replaceAll(`${prefix}: `, '').replaceAll(`${prefix}.`, '')
  return { failure: [Number(index), [status, JSON.parse(text.replaceAll(prefix, ''))]] }
}

const asRequests: Execution = async (writes) => {
  const results: Json[] = []
  for (const { method, path, headers, body: sent } of writes.map(asRequest)) {
    const { status, headers: received, body } = await service().writer.request(method, path, sent, headers)
    if (status >= 400) return { failure: [results.length, [status, body.error]] }
    results.push([status, (method !== 'DELETE' && received.get('etag')) || undefined, body])
  }
  return { results }
}

const asAtomicMutation: Execution = async (writes) => {
  const { query, variables } = asMutation(writes, '@atomic')
  const { data, errors } = await service().writer.graphql(query, variables)
  if (data) return { results: writes.map((_, index) => data[`w${index}`]) }
  const [{ message, path, extensions } = {} as Json] = errors ?? []
  return { failure: [Number(path[0].slice(1)), [message, extensions]] }
}

const asMutations: Execution = async (writes) => {
  const results: Json[] = []
  for (const [index, write] of writes.entries()) {
    const { query, variables } = asMutation([write], '', index)
    const { data, errors } = await service().writer.graphql(query, variables)
    if (errors) return { failure: [index, [errors[0].message, errors[0].extensions]] }
    results.push(data[`w${index}`])
  }
  return { results }
}

const FACES = [
  ['a batch', asBatch, asRequests],
  ['an atomic mutation', asAtomicMutation, asMutations],
] as const

for (const [title, together, apart] of FACES) {
  test(`${title} has the outcome of its writes one after the other, up to the first that fails`, async (t) => {
    let failed = 0
    const property = fc.asyncProperty(randomWrites, async (writes) => {
      const sequence = await outcomeOf(writes, apart)
      if (sequence.failure) failed += 1
      deepStrictEqual(await outcomeOf(writes, together), sequence)
    })
    // A failure prints its seed.
    await fc.assert(property, { numRuns: RUNS, includeErrorInReport: true })
    t.true(failed > RUNS * 0.1 && failed < RUNS * 0.95, `${failed} of ${RUNS} failed`)
  })
}
