import type { Caller } from '../../model/access/caller.ts'
import type { Resource } from '../../model/definition/resource.ts'
import { errorAt } from '../../model/errors.ts'
import { isResourceKey, keyOf, type ResourceKey } from '../../model/rows/identifiers.ts'
import type { Row } from '../../model/rows/row.ts'
import type { GraphContext } from '../execution/context.ts'
import type { SchemaField } from './sdl.ts'

// The identifier of an owned resource is unique only under its parent. Caches need one that is unique in the whole schema
// (GraphQL Global Object Identification).

const NODE_ID = '"Opaque identifier, unique across all types. Use it with node and nodes." nodeId: ID!'

export const NODE = /* GraphQL */ `
"A resource of any type (GraphQL Global Object Identification)."
interface Node { ${NODE_ID} }`

export function nodeIdField(resource: Resource): SchemaField {
  return {
    sdl: NODE_ID,
    resolve: (row: Row, _, { session }) => encodeNodeId(resource, keyOf(resource, row), session.caller),
  }
}

export function nodeQueries(resources: readonly Resource[]): SchemaField[] {
  return [
    {
      sdl: `"The resource of any type with this nodeId. Null if there is none."
        node("The nodeId of the resource." nodeId: ID!): Node`,
      resolve: (_, { nodeId }: { nodeId: string }, context) => findNode(resources, nodeId, context),
    },
    {
      sdl: `"The resources with these nodeIds, in the same order; null for each that does not exist."
        nodes("Up to the maximum page size." nodeIds: [ID!]!): [Node]`,
      resolve: (_, { nodeIds }: { nodeIds: readonly string[] }, context) => {
        const { length } = nodeIds
        const maximum = context.session.maximumPageSize
        const message = `nodeIds must not have more than ${maximum} values; it has ${length}.`
        if (length > maximum) throw errorAt('nodeIds', 'TOO_LONG', 'INVALID_QUERY_PARAMETER', message)
        return nodeIds.map((nodeId) => findNode(resources, nodeId, context))
      },
    },
  ]
}

/** The row, with the name of its type for the interface; null if no resource can have this `nodeId`. */
async function findNode(resources: readonly Resource[], nodeId: string, { session }: GraphContext) {
  const [text = ''] = Buffer.from(nodeId, 'base64url').toString().split(SEPARATOR)
  const [name, ...ids] = text.split('/')
  const resource = resources.find((candidate) => candidate.name === name)
  const key = { parentId: resource?.parentField && ids[0], id: ids.at(-1) ?? '' }
  if (!resource || !isResourceKey(key) || encodeNodeId(resource, key, session.caller) !== nodeId) return null
  const row = await session.find(resource, key)
  return row ? { ...row, __typename: resource.name } : null
}

/** Before the namespace. Identifiers do not have it. */
const SEPARATOR = '@'

function encodeNodeId(
  { name, listed }: Resource,
  { parentId, id }: ResourceKey,
  { namespace }: Caller,
): string {
  const parts = parentId !== undefined && listed ? [name, parentId, id] : [name, id]
  const text = parts.join('/') + (namespace ? SEPARATOR + namespace.name : '')
  return Buffer.from(text).toString('base64url')
}
