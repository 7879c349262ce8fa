import { camelCase } from '../../../src/graph/names.ts'
import type { Leaf, Resource } from '../../../src/model/definition/resource.ts'
import type { Report } from './oracle.ts'
import { holds, nestedCondition, randomCondition, randomFilter, withRelation } from './random-filters.ts'
import { pathOf, type World } from './random-requests.ts'
import { type Columns, valuesOf } from './random-rows.ts'
import { batch, bodyOf, patchOf } from './random-writes.ts'
import type { Request, ServicePair } from './service-pair.ts'

const WRITES_PER_ROUND = 60

/**
 * Compares what rules for changes and creations admit with what they hold for: the row before, and the one that the same
 * write stores for a caller without rules.
 */
export async function compareWriteRules(pair: ServicePair, world: World, report: Report): Promise<void> {
  const { random, resources } = world
  const animals = resources.find(({ path }) => path === 'animals') as Resource
  const rows = world.rows.filter(({ resource, isDeleted }) => resource.path === 'animals' && !isDeleted)
  const paws = animals.leaves.filter(({ name }) => name === 'paws')
  for (let count = 0; count < WRITES_PER_ROUND; count++) {
    const onPaws = nestedCondition(randomCondition(random, { leaves: paws }, rows), (name) => name)
    const own = random.chance(0.6) ? onPaws : randomFilter(random, animals, rows)
    // An animal can be its own mother, and then the rule compares what the write changes.
    const rule = withRelation(random, animals, world.rows, own, ['keeper'])
    const row = random.chance(0.7) ? random.pick(rows) : undefined
    const method = row ? random.pick(['PATCH', 'PUT']) : 'PUT'
    const legs = random.pick(valuesOf(animals.leaves.find(({ name }) => name === 'legs') as Leaf))
    const fields = { ...(method === 'PATCH' ? patchOf : bodyOf)(world, animals), legs }
    const id = row?.id ?? 'fresh'
    const write = (prefer: string, headers: Readonly<Record<string, string>> = {}): Request => ({
      door: `rule of ${method}`,
      method,
      path: pathOf(animals, { resource: animals, id, parentId: undefined, columns: {}, isDeleted: false }),
      headers: { prefer, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ ...fields, ...(!row && { id }) }),
    })
    const stored = await pair.askRestricted({}, SCOPE, write('tx=rollback, return=representation'))
    if (stored.status >= 300) continue
    const after = flattened(animals, JSON.parse(stored.text))
    const isAdmitted =
      (!row || holds(animals, rule, row.columns, world.rows)) && holds(animals, rule, after, world.rows)
    // A write that must be refused need not be a dry run.
    const isDry = isAdmitted || random.chance(0.5)
    const one = write(isDry ? 'tx=rollback' : 'return=minimal')
    const request = random.weighted<Request>([
      [2, one],
      [1, batch(one)],
      ...(method === 'PATCH' ? [[2, mutation(id, fields, isDry, random.chance(0.5))] as const] : []),
    ])
    const answer = await pair.askRestricted(
      { 'create animals': rule, 'change animals': rule },
      SCOPE,
      request,
    )
    report.count(request.door, answer.status)
    const isDenied = answer.text.includes('ACCESS_DENIED')
    const isDone = !isDenied && answer.status < 300
    if (isAdmitted ? isDone : isDenied) continue
    const text = `${isAdmitted ? 'admitted' : 'refused'} by ${JSON.stringify(rule)}: ${JSON.stringify(request)} ${answer.text}`
    report.differences.push({ door: request.door, text })
  }
}

const SCOPE = '*:read *:write'

function mutation(id: string, fields: Columns, isDry: boolean, isAtomic: boolean): Request {
  const directives = `${isDry ? '@dryRun' : ''} ${isAtomic ? '@atomic' : ''}`
  const patch = Object.fromEntries(Object.entries(fields).map(([name, value]) => [camelCase(name), value]))
  const query = `mutation ($id: ID!, $patch: AnimalPatch!) ${directives} { patchAnimal(id: $id, patch: $patch) { outcome } }`
  const body = JSON.stringify({ query, variables: { id, patch } })
  return {
    door: 'rule of a mutation',
    method: 'POST',
    path: '/graphql',
    headers: { 'content-type': 'application/json' },
    body,
  }
}

/** The columns of a representation. */
function flattened({ leaves }: Resource, representation: Columns): Columns {
  const valueAt = ({ path }: Leaf) =>
    path.reduce<unknown>((value, name) => (value as Columns | undefined)?.[name], representation)
  return Object.fromEntries(leaves.map((leaf) => [leaf.column, valueAt(leaf)]))
}
