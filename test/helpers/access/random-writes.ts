import { camelCase, graphNames, parentArgument, singular } from '../../../src/graph/names.ts'
import type { Leaf, Resource } from '../../../src/model/definition/resource.ts'
import { type Conversation, pathOf, randomResource, randomRow, type World } from './random-requests.ts'
import { type RandomRow, valuesOf } from './random-rows.ts'
import type { Request } from './service-pair.ts'

const DRY_RUN = 'tx=rollback'

/** A dry run of a write, by REST, in a batch or by GraphQL, of a row that may not exist for the caller. */
export function* write(world: World): Conversation {
  const { random } = world
  const resource = randomResource(world)
  const row = randomRow(world, resource)
  if (random.chance(0.25)) yield mutation(world, resource, row)
  else {
    const one = restWrite(world, resource, row)
    yield random.chance(0.2) ? batch(one) : one
  }
}

function restWrite(world: World, resource: Resource, row: RandomRow | undefined): Request {
  const { random } = world
  const versions = [row?.columns['version'], random.below(4)]
  const headers = {
    prefer: `${DRY_RUN}${random.chance(0.3) ? ', return=representation' : ''}`,
    'content-type': 'application/json',
  }
  const tag = { 'if-match': random.chance(0.2) ? '*' : `"${row?.id}:${random.pick(versions)}"` }
  const path = pathOf(resource, row)
  switch (
    random.weighted([
      [3, 'PATCH'],
      [2, 'PUT'],
      [2, 'DELETE'],
      [2, 'POST'],
      [1, 'PUT new'],
    ])
  ) {
    case 'PATCH': {
      const body = JSON.stringify(patchOf(world, resource))
      return {
        door: 'patch',
        method: 'PATCH',
        path,
        headers: { ...headers, ...(random.chance(0.4) && tag) },
        body,
      }
    }
    case 'PUT': {
      const body = JSON.stringify(bodyOf(world, resource))
      return { door: 'replace', method: 'PUT', path, headers: { ...headers, ...tag }, body }
    }
    case 'DELETE': {
      const prefer = `${DRY_RUN}, handling=strict`
      return { door: 'delete', method: 'DELETE', path, headers: { prefer, ...(random.chance(0.3) && tag) } }
    }
    case 'POST': {
      const isListed = resource.listed
      const collection = isListed ? path.slice(0, path.lastIndexOf('/')) : path
      const body = JSON.stringify(bodyOf(world, resource))
      return { door: 'create', method: isListed ? 'POST' : 'PUT', path: collection, headers, body }
    }
    default: {
      const fresh = resource.listed ? `${path.slice(0, path.lastIndexOf('/'))}/fresh` : path
      const body = JSON.stringify({ ...bodyOf(world, resource), ...(resource.listed && { id: 'fresh' }) })
      return { door: 'create by PUT', method: 'PUT', path: fresh, headers, body }
    }
  }
}

/** The same in a batch. */
export function batch({ method, path, headers, body }: Request): Request {
  const { prefer = '', ...own } = headers
  const strict = prefer.includes('strict') && { prefer: 'handling=strict' }
  const operation = {
    method,
    path: path.slice('/api/v1'.length),
    headers: { ...own, ...strict },
    ...(body !== undefined && { body: JSON.parse(body) }),
  }
  return {
    door: 'batch',
    method: 'POST',
    path: '/api/v1/batch',
    headers: { ...(prefer.includes(DRY_RUN) && { prefer: DRY_RUN }), 'content-type': 'application/json' },
    body: JSON.stringify({ operations: [operation] }),
  }
}

function mutation(world: World, resource: Resource, row: RandomRow | undefined): Request {
  const { random } = world
  const names = graphNames(resource)
  const parent = parentArgument(resource)
  const address = {
    ...(parent && { [parent]: row?.parentId ?? 'none' }),
    ...(resource.listed && { id: row?.id ?? 'none' }),
  }
  const isDeletion = !resource.replaceable || random.chance(0.4)
  const declared = [
    ...Object.keys(address).map((name) => `$${name}: ID!`),
    ...(isDeletion ? [] : [`$patch: ${names.patchInput}!`]),
    '$ifVersion: [Int!]',
  ]
  const args = [
    ...Object.keys(address).map((name) => `${name}: $${name}`),
    isDeletion ? 'strict: true' : 'patch: $patch',
    'ifVersion: $ifVersion',
  ]
  const shown = isDeletion ? 'outcome' : `outcome ${singular(resource)} { id version }`
  const patch = Object.fromEntries(
    Object.entries(patchOf(world, resource)).map(([name, value]) => [camelCase(name), value]),
  )
  const field = isDeletion ? names.delete : names.patch
  return {
    door: 'mutation',
    method: 'POST',
    path: '/graphql',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      query: `mutation (${declared.join(', ')}) @dryRun { ${field}(${args.join(', ')}) { ${shown} } }`,
      variables: {
        ...address,
        ...(!isDeletion && { patch }),
        ifVersion: random.chance(0.5) ? [row?.columns['version'] ?? 1] : null,
      },
    }),
  }
}

/** References may lead to any row. */
function valueFor({ random, rows }: World, leaf: Leaf): unknown {
  const { field } = leaf
  if (field.type === 'reference')
    return random.pick(rows.filter(({ resource }) => resource.path === field.to)).id
  return field.unique ? `fresh ${random.below(1e9)}` : random.pick(valuesOf(leaf))
}

/** Groups are left out. */
function settable({ writable }: Resource): readonly Leaf[] {
  return writable.filter(({ path }) => path.length === 1)
}

export function bodyOf(world: World, resource: Resource): Record<string, unknown> {
  const leaves = settable(resource).filter(({ field }) => field.required || world.random.chance(0.5))
  return Object.fromEntries(leaves.map((leaf) => [leaf.name, valueFor(world, leaf)]))
}

export function patchOf(world: World, resource: Resource): Record<string, unknown> {
  const leaves = world.random.some(settable(resource), 2)
  return Object.fromEntries(leaves.map((leaf) => [leaf.name, valueFor(world, leaf)]))
}
