import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'
import { camelCase, graphNames, singular } from '../../../src/graph/names.ts'
import type { Resource } from '../../../src/model/definition/resource.ts'
import { nestedCondition, randomCondition, randomFilter, type WireFilter } from './random-filters.ts'
import type { Conversation, World } from './random-requests.ts'
import type { RandomRow } from './random-rows.ts'
import type { Answer, Request } from './service-pair.ts'

/** Positions of the feed, which differ. */
const EXCLUDED = ['changes', 'versions', 'changesCursor']

/** Composes random documents of any depth from the schema. All arguments are variables. */
class Composer {
  readonly variables: Record<string, unknown> = {}
  readonly declarations: string[] = []

  constructor(readonly world: World) {}

  selection(type: GraphQLOutputType, depth: number): string {
    const { random, resources } = this.world
    const named = getNamedType(type)
    if (isLeafType(named)) return ''
    if (!isObjectType(named)) {
      const fragments = random
        .some(resources, 3)
        .map(({ name }) => `... on ${name} { id version ${random.chance(0.3) ? 'lastUpdated' : ''} }`)
      return `{ __typename nodeId ${fragments.join(' ')} }`
    }
    const fields = Object.values(named.getFields()).filter(({ name }) => !EXCLUDED.includes(name))
    const leaves = fields.filter((field) => isLeafType(getNamedType(field.type)))
    const others = fields.filter((field) => !leaves.includes(field))
    const isContainer = !this.#resourceNamed(named.name)
    const chosen = [
      ...random.some(leaves, 6),
      ...(isContainer
        ? random.some(others, 2)
        : depth > 0 && random.chance(0.7)
          ? random.some(others, 2)
          : []),
    ]
    const inner = isContainer ? depth : depth - 1
    return `{ __typename ${chosen.map((field) => this.field(field, inner)).join(' ')} }`
  }

  field(
    field: GraphQLField<unknown, unknown>,
    depth: number,
    given: Readonly<Record<string, unknown>> = {},
  ): string {
    const resource = this.#resourceOf(getNamedType(field.type).name)
    const args = field.args.flatMap((argument) => {
      const value = argument.name in given ? given[argument.name] : this.#argument(argument, resource)
      if (value === undefined) return []
      const variable = `v${this.declarations.length}`
      this.declarations.push(`$${variable}: ${argument.type}`)
      this.variables[variable] = value
      return [`${argument.name}: $${variable}`]
    })
    return `${field.name}${args.length > 0 ? `(${args.join(', ')})` : ''} ${this.selection(field.type, depth)}`
  }

  #argument(argument: GraphQLArgument, resource: Resource | undefined): unknown {
    const { random, resources, rows } = this.world
    const { name, type } = argument
    if (!isRequiredArgument(argument) && random.chance(0.6)) return undefined
    const own = rows.filter((row) => row.resource.path === resource?.path)
    switch (name) {
      case 'id':
        return random.pick(own).id
      case 'nodeId':
        return nodeIdOf(random.pick(rows))
      case 'nodeIds':
        return random.some(rows, 8).map(nodeIdOf)
      case 'filter':
        return resource && graphFilter(this.world, resource)
      case 'search':
        return random.pick(['ann', 'bo', 'Bo ann', 'a%'])
      case 'page':
        return 1 + random.below(3)
      case 'limit':
      case 'first':
      case 'last':
        return 1 + random.below(6)
      case 'after':
      case 'before':
      case 'cursor':
      case 'unlessRevision':
        return undefined
      case 'groupByRange':
        return { ...(this.#input(type) as object), bounds: [0, 1, 2, 10] }
      default: {
        const parent = resources.find((one) => `${singular(one)}Id` === name)
        if (!parent) return this.#input(type)
        return random.pick(rows.filter((row) => row.resource.path === parent.path)).id
      }
    }
  }

  #input(type: GraphQLInputType): unknown {
    const { random } = this.world
    const plain = getNullableType(type) as GraphQLInputType
    if (isListType(plain)) return Array.from({ length: 1 + random.below(2) }, () => this.#input(plain.ofType))
    if (isEnumType(plain)) return random.pick(plain.getValues()).name
    if (!isInputObjectType(plain)) return undefined
    const members = Object.values(plain.getFields()).map((member) => [member.name, this.#input(member.type)])
    return Object.fromEntries(members)
  }

  #resourceNamed(type: string): Resource | undefined {
    return this.world.resources.find(({ name }) => name === type)
  }

  #resourceOf(type: string): Resource | undefined {
    return this.world.resources.find((resource) => {
      const names = graphNames(resource)
      return [resource.name, names.pageType, names.connectionType, names.aggregateType].includes(type)
    })
  }
}

function nodeIdOf({ resource, id, parentId }: RandomRow): string {
  const parts =
    parentId !== undefined && resource.listed ? [resource.name, parentId, id] : [resource.name, id]
  return Buffer.from(parts.join('/')).toString('base64url')
}

/** Conditions on the resource, and perhaps on what it refers to. */
function graphFilter({ random, resources, rows }: World, resource: Resource): WireFilter {
  const rowsOf = (path: string) => rows.filter((row) => row.resource.path === path)
  const own = randomFilter(random, resource, rowsOf(resource.path), 2, camelCase)
  const relations = resource.leaves.flatMap(({ field }) =>
    field.type === 'reference' ? [{ name: field.relation, path: field.to }] : [],
  )
  if (resource.owner) relations.push({ name: singular(resource.owner), path: resource.owner.path })
  if (relations.length === 0 || random.chance(0.6)) return own
  const { name, path } = random.pick(relations)
  const target = resources.find((one) => one.path === path) as Resource
  const condition = nestedCondition(randomCondition(random, target, rowsOf(path)), camelCase)
  const related = { [camelCase(name)]: random.chance(0.2) ? { not: condition } : condition }
  return random.pick([related, { ...own, ...related }, { not: related }, { or: [own, related] }])
}

function request(door: string, composer: Composer, text: string): Request {
  const { declarations, variables } = composer
  const declared = declarations.length > 0 ? `(${declarations.join(', ')})` : ''
  return {
    door,
    method: 'POST',
    path: '/graphql',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: `query ${declared} { ${text} }`, variables }),
  }
}

/** One or two fields of Query, with what they lead to. */
export function* query(world: World, schema: GraphQLSchema): Conversation {
  const fields = Object.values((schema.getQueryType() as GraphQLObjectType).getFields())
  const chosen = world.random.some(
    fields.filter(({ name }) => !EXCLUDED.includes(name)),
    2,
  )
  const composer = new Composer(world)
  const text = chosen.map((field) => composer.field(field, 2)).join('\n')
  yield request('query', composer, text)
}

/** A page by number and cursor in both directions, and again unless its revision is the same. */
export function* page(world: World, schema: GraphQLSchema): Conversation {
  const { random } = world
  const resource = random.pick(world.resources.filter(({ listed }) => listed))
  const field = fieldOf(schema, graphNames(resource).page)
  const composer = new Composer(world)
  const named = composer.field(field, 0, {
    page: 1,
    limit: 1 + random.below(5),
    cursor: null,
    unlessRevision: null,
  })
  const text = `${named.slice(0, named.indexOf(' {'))} { page revision hasMore nextCursor previousCursor totalCount items { id version } }`
  const indexes = ['page', 'cursor', 'unlessRevision'].map(
    (name) => /\$(v\d+)/.exec(text.slice(text.indexOf(`${name}: $`)))?.[1] as string,
  )
  const [number = '', cursor = '', revision = ''] = indexes
  let shown = dataOf(yield request('page', composer, text))
  for (let steps = random.below(4); steps > 0 && shown; steps--) {
    const isForward = random.chance(0.6)
    const next = isForward ? shown['nextCursor'] : shown['previousCursor']
    if (random.chance(0.3)) {
      composer.variables[revision] = shown['revision']
    } else {
      composer.variables[revision] = null
      if (!next) return
      composer.variables[cursor] = next
      composer.variables[number] = Math.max(1, (shown['page'] as number) + (isForward ? 1 : -1))
    }
    shown = dataOf(yield request('page by cursor', composer, text))
  }
}

/** A connection in both directions. */
export function* connection(world: World, schema: GraphQLSchema): Conversation {
  const { random } = world
  const resource = random.pick(world.resources.filter(({ listed }) => listed))
  const field = fieldOf(schema, graphNames(resource).connection)
  const composer = new Composer(world)
  const named = composer.field(field, 0, { first: 2, after: null, last: null, before: null })
  const text = `${named.slice(0, named.indexOf(' {'))} { totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { id } } }`
  const nameOf = (name: string) => /\$(v\d+)/.exec(text.slice(text.indexOf(`${name}: $`)))?.[1] as string
  let shown = dataOf(yield request('connection', composer, text))
  for (let steps = random.below(4); steps > 0 && shown; steps--) {
    const { endCursor, startCursor } = shown['pageInfo'] as Record<string, unknown>
    const isForward = random.chance(0.6)
    const [size, position] = isForward ? ['first', 'after'] : ['last', 'before']
    for (const name of ['first', 'after', 'last', 'before']) composer.variables[nameOf(name)] = null
    composer.variables[nameOf(size as string)] = 1 + random.below(3)
    composer.variables[nameOf(position as string)] = isForward ? endCursor : startCursor
    shown = dataOf(yield request('connection by cursor', composer, text))
  }
}

function fieldOf(schema: GraphQLSchema, name: string): GraphQLField<unknown, unknown> {
  return (schema.getQueryType() as GraphQLObjectType).getFields()[name] as GraphQLField<unknown, unknown>
}

/** The value of the only field. */
function dataOf({ text }: Answer): Readonly<Record<string, unknown>> | undefined {
  const [value] = Object.values(JSON.parse(text).data ?? {})
  return (value ?? undefined) as Readonly<Record<string, unknown>> | undefined
}
