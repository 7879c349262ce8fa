import test from 'ava'
import { camelCase, graphNames, parentArgument, singular } from '../../src/graph/names.ts'
import type { Resource } from '../../src/model/definition/resource.ts'
import { type Body, Fixtures } from '../helpers/domain/fixtures.ts'
import { representatives } from '../helpers/domain/representatives.ts'
import type { GraphQLAnswer, Json } from '../helpers/service/client.ts'
import { shareServiceOfSuite } from '../helpers/service/service.ts'

// One request after the other: side by side they would only wait for the same database.
const service = shareServiceOfSuite(test)
const fixtures = () => new Fixtures(service().writer)

/** A REST body as GraphQL writes it: names in camel case. What is an object of names stays as it is. */
function toInput(resource: Resource, body: Body): Body {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      const isGroup = resource.fields[name]?.type === 'group' && value !== null
      return [
        camelCase(name),
        isGroup
          ? Object.fromEntries(Object.entries(value).map(([member, inner]) => [camelCase(member), inner]))
          : value,
      ]
    }),
  )
}

/** Everything that a caller may set, as a selection. */
function selection(resource: Resource): string {
  const names = new Set(resource.writable.map(({ path }) => path[0] as string))
  const fields = [...names].map((name) => {
    const field = resource.fields[name]
    if (field?.type !== 'group') return camelCase(name)
    return `${camelCase(name)} { ${Object.keys(field.fields).map(camelCase).join(' ')} }`
  })
  return `id version lastUpdated ${fields.join(' ')}`
}

/** The documents of a resource's operations; variables are id, parentId, input, patch and ifVersion. */
function documents(resource: Resource) {
  const names = graphNames(resource)
  const parent = parentArgument(resource)
  const isSingleton = resource.kind === 'singleton'
  const within = parent ? [['$parentId: ID!', `${parent}: $parentId`]] : []
  const address = [...within, ...(isSingleton ? [] : [['$id: ID!', 'id: $id']])]
  const compose = (kind: string, name: string, parts: string[][], rest: string) => {
    const variables = parts.map(([variable]) => variable).join(', ')
    const args = parts.map(([, argument]) => argument).join(', ')
    return `${kind} ${variables && `(${variables})`} { it: ${name}${args && `(${args})`} ${rest} }`
  }
  const payload = `{ outcome ${singular(resource)} { ${selection(resource)} } }`
  const input = [`$input: ${names.input}!`, 'input: $input']
  const patch = [`$patch: ${names.patchInput}!`, 'patch: $patch']
  const ifVersion = ['$ifVersion: [Int!]', 'ifVersion: $ifVersion']
  return {
    read: compose('query', names.read, address, `{ ${selection(resource)} }`),
    page: compose('query', names.page, within, `{ totalCount hasMore items { id version } }`),
    create: compose('mutation', names.create, [...within, input], payload),
    put: compose('mutation', names.put, [...address, input, ifVersion], payload),
    patch: compose('mutation', names.patch, [...address, patch, ifVersion], payload),
    remove: compose('mutation', names.delete, [...address, ifVersion], '{ outcome }'),
    strictly: compose(
      'mutation',
      names.delete,
      [...address, ['$strict: Boolean!', 'strict: $strict']],
      '{ outcome }',
    ),
  }
}

function codeOf({ errors }: GraphQLAnswer): string | undefined {
  return errors?.[0].extensions.code
}

/** The values that were set; GraphQL answers null for the others. */
function setValues(resource: Resource, answer: Json): Body {
  const { id, version, lastUpdated, ...rest } = answer
  const isGroup = (name: string) =>
    Object.entries(resource.fields).some(
      ([wire, field]) => field.type === 'group' && camelCase(wire) === name,
    )
  const prune = (values: Body): Body =>
    Object.fromEntries(
      Object.entries(values)
        .filter(([, value]) => value !== null)
        .map(([name, value]) => [name, isGroup(name) ? prune(value) : value]),
    )
  return prune(rest)
}

for (const resource of representatives) {
  const { path } = resource
  const { listed, replaceable } = resource
  const graph = documents(resource)

  test.serial(`${path}: GraphQL reads what REST has created, with the same version and values`, async (t) => {
    const { reader } = service()
    const { id, parentId, body, collection } = await fixtures().create(resource)
    const { data, errors } = await reader.graphql(graph.read, { id, parentId })
    t.deepEqual([errors, data?.it.id, data?.it.version], [undefined, id, 1])
    t.deepEqual(setValues(resource, data.it), toInput(resource, body))
    if (!listed) return
    const page = await reader.graphql(graph.page, { parentId })
    t.is(page.errors, undefined)
    t.is(page.data.it.totalCount, (await reader.get(collection)).body.total_count)
  })

  test.serial(
    `${path}: what GraphQL writes REST reads, and outcomes and versions tell what was done`,
    async (t) => {
      const { reader, writer } = service()
      const parentId = await fixtures().parent(resource)
      const body = await fixtures().body(resource)
      const input = toInput(resource, body)
      let id = parentId as string
      if (listed) {
        const { data, errors } = await writer.graphql(graph.create, { parentId, input })
        t.deepEqual([errors, data?.it.outcome], [undefined, 'CREATED'])
        const made = data.it[singular(resource)]
        t.deepEqual(setValues(resource, made), input)
        id = made.id
        const other = resource.owner ? `/${resource.owner.path}/${parentId}/${path}/${id}` : `/${path}/${id}`
        const read = await reader.get(other)
        t.deepEqual([read.status, read.headers.get('etag')], [200, `"${id}:1"`])
      }
      if (!replaceable) return
      const steps: [string, object, string, number][] = [
        [graph.put, { input }, listed ? 'UNCHANGED' : 'CREATED', 1],
        [graph.put, { input: toInput(resource, await fixtures().body(resource)) }, 'REPLACED', 2],
        [graph.patch, { patch: {} }, 'UNCHANGED', 2],
      ]
      for (const [document, variables, outcome, version] of steps) {
        const { data, errors } = await writer.graphql(document, { id, parentId, ...variables })
        t.deepEqual(
          [errors, data?.it.outcome, data?.it[singular(resource)].version],
          [undefined, outcome, version],
        )
      }
    },
  )

  test.serial(`${path}: ifVersion lets only that version be changed, and deleted`, async (t) => {
    const { writer, reader } = service()
    const { id, parentId, body } = await fixtures().create(resource)
    const address = { id, parentId }
    const input = toInput(resource, body)
    for (const ifVersion of [[2], []]) {
      const attempts = [
        ...(replaceable
          ? [
              [graph.put, { input }],
              [graph.patch, { patch: {} }],
            ]
          : []),
        [graph.remove, {}],
      ] as [string, object][]
      for (const [document, variables] of attempts) {
        const refused = await writer.graphql(document, { ...address, ...variables, ifVersion })
        t.is(codeOf(refused), 'CONCURRENT_MODIFICATION')
      }
    }
    const deleted = await writer.graphql(graph.remove, { ...address, ifVersion: [7, 1] })
    t.is(deleted.data.it.outcome, 'DELETED')
    t.is((await writer.graphql(graph.remove, address)).data.it.outcome, 'ABSENT')
    t.is(codeOf(await writer.graphql(graph.strictly, { ...address, strict: true })), 'RESOURCE_GONE')
    const read = await reader.graphql(graph.read, address)
    t.deepEqual([read.data?.it, codeOf(read)], [null, 'RESOURCE_GONE'])
  })

  test.serial(`${path}: tokens and scopes are those of REST`, async (t) => {
    const { anonymous, withScope } = service()
    const { id, parentId } = await fixtures().create(resource)
    const address = { id, parentId }
    t.is((await anonymous.graphql(graph.read, address)).status, 401)
    for (const scope of ['', `${path}:write`, 'other:read']) {
      const denied = await withScope(scope).graphql(graph.read, address)
      t.deepEqual([denied.data?.it ?? null, codeOf(denied)], [null, 'ACCESS_DENIED'])
      const missing = await withScope(scope).graphql(graph.read, { ...address, id: 'never-was' })
      t.is(codeOf(missing), 'ACCESS_DENIED')
    }
    t.is(codeOf(await withScope(`${path}:read *:read`).graphql(graph.remove, address)), 'ACCESS_DENIED')
    t.is((await withScope(`${path}:read`).graphql(graph.read, address)).data.it.id, id)
    t.is((await withScope(`${path}:write`).graphql(graph.remove, address)).data.it.outcome, 'DELETED')
  })

  test.serial(`${path}: a missing resource has the code that REST has, without a stack`, async (t) => {
    const parentId = await fixtures().parent(resource)
    for (const id of ['never-was', 'not an id', '\0']) {
      const at = listed ? { id, parentId } : { parentId: id }
      const { data, errors, text } = await service().reader.graphql(graph.read, at)
      t.deepEqual([data?.it ?? null, errors?.[0].extensions.code], [null, 'RESOURCE_NOT_FOUND'])
      t.deepEqual(Object.keys(errors?.[0].extensions).sort(), ['code', 'details'])
      t.notRegex(text, /stack|node_modules|\.ts:|prisma/i)
    }
  })

  if (replaceable) {
    test.serial(`${path}: the domain’s problems come with codes and paths in camel case`, async (t) => {
      const { writer } = service()
      const { id, parentId } = await fixtures().create(resource)
      for (const leaf of resource.writable) {
        if (leaf.field.type !== 'text') continue
        const [outer, inner] = leaf.path as [string, string?]
        const long = 'x'.repeat(leaf.field.maximumLength + 1)
        const patch = { [camelCase(outer)]: inner === undefined ? long : { [camelCase(inner)]: long } }
        const { errors } = await writer.graphql(graph.patch, { id, parentId, patch })
        const { code, details } = errors?.[0].extensions ?? {}
        t.is(code, 'VALIDATION_FAILED')
        t.deepEqual(
          [details[0].field, details[0].code],
          [`patch.${leaf.path.map(camelCase).join('.')}`, 'TOO_LONG'],
        )
      }
      t.pass()
    })
  }
}
