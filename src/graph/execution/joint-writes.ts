import { setImmediate as nextTurn } from 'node:timers/promises'
import { type GraphQLField, type GraphQLResolveInfo, getArgumentValues } from 'graphql'
import { lockInOrder } from '../../domain/transaction.ts'
import { isResourceKey, keyText } from '../../model/identifiers.ts'
import type { Resource } from '../../model/resource.ts'
import { keyReader, type SchemaField } from '../schema/sdl.ts'
import type { PlannedWrite } from './context.ts'
import { fieldsBelow } from './selection.ts'

/** Fields that are executed in one turn of the event loop. A hundred would delay the requests of others by 20 ms. */
const FIELDS_PER_TURN = 10

type Resolver = NonNullable<SchemaField['resolve']>

/**
 * The resolver of a write that can be one of several in a transaction. The first locks what all write, in the same order
 * in all transactions, so that they seldom end in a deadlock. After a failure, those of an atomic mutation do nothing.
 */
export function together(resolve: Resolver): Resolver {
  return async (source, args, context, info) => {
    const { together, domain } = context
    if (!together) return resolve(source, args, context, info)
    if (together.isAtomic && together.hasFailed) return null
    if (++together.executed % FIELDS_PER_TURN === 0) await nextTurn()
    try {
      if (!together.planned) {
        together.planned = plannedWrites(info)
        await lockInOrder(domain.client, together.planned.flatMap(lockedKey))
      }
      return await resolve(source, args, context, info)
    } catch (error) {
      together.hasFailed = true
      throw error
    }
  }
}

function plannedWrites(info: GraphQLResolveInfo): PlannedWrite[] {
  const fields = info.schema.getMutationType()?.getFields() ?? {}
  const writes = fieldsBelow(info, [info.operation]).map((node): PlannedWrite => {
    const field = fields[node.name.value] as GraphQLField<unknown, unknown>
    const resource = field.extensions['writes'] as Resource
    const args = getArgumentValues(field, node, info.variableValues)
    return { name: (node.alias ?? node.name).value, resource, key: keyReader(resource)(args), args }
  })
  // Equal fields are one.
  return [...new Map(writes.map((write) => [write.name, write])).values()]
}

/** The key of a resource that is replaced, changed or deleted, as a text. A malformed one is refused, or names nothing. */
function lockedKey({ resource, key: { parentId, id } }: PlannedWrite): string[] {
  const key = { parentId, id: id ?? '' }
  return isResourceKey(key) ? [`${resource.path}/${keyText(key)}`] : []
}
