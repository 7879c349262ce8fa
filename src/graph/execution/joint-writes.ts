import { setImmediate as nextTurn } from 'node:timers/promises'
import { type GraphQLResolveInfo, getArgumentValues } from 'graphql'
import type { Written } from '../../domain/changes.ts'
import type { WriteContext } from '../../domain/context.ts'
import { type Creation, createTogether } from '../../domain/create-together.ts'
import { lockInOrder } from '../../domain/transaction.ts'
import { isResourceKey, keyText, type ResourceKey } from '../../model/identifiers.ts'
import type { Resource, Values } from '../../model/resource.ts'
import { toWireNames } from '../names.ts'
import { fieldsBelow } from './selection.ts'

export interface WriteTarget {
  readonly resource: Resource
  /** The key in the arguments. Its identifier is undefined for a resource to create. */
  readonly keyOf: (args: Values) => ResourceKey
}

type PlannedWrite = ReturnType<typeof plannedWrites>[number]

/** Fields executed in one turn of the event loop. A hundred would delay the requests of others by 20 ms. */
const FIELDS_PER_TURN = 10

/** The writes of a mutation in one transaction, field after field. */
export class JointWrites {
  #begun = 0
  #hasFailed = false
  #planned: readonly PlannedWrite[] | undefined
  /** By field name: the resource that an earlier field created together with its own, if any. */
  readonly #created = new Map<string, Written | undefined>()

  constructor(
    private readonly context: WriteContext,
    private readonly isAtomic: boolean,
  ) {}

  /**
   * Runs the write of a field. The first field locks the keys of all, in the same order in all transactions, so that
   * deadlocks are rare. After a failure, the fields of an atomic mutation do nothing.
   */
  async run<Result>(info: GraphQLResolveInfo, write: () => Promise<Result>): Promise<Result | null> {
    if (this.isAtomic && this.#hasFailed) return null
    if (++this.#begun % FIELDS_PER_TURN === 0) await nextTurn()
    try {
      if (!this.#planned) {
        this.#planned = plannedWrites(info)
        await lockInOrder(this.context.client, this.#planned.flatMap(lockedKey))
      }
      return await write()
    } catch (error) {
      this.#hasFailed = true
      throw error
    }
  }

  /** Creates the resource of a field together with those of the fields directly after it, if possible. */
  async create({ path }: GraphQLResolveInfo, resource: Resource): Promise<Written | undefined> {
    const name = String(path.key)
    if (this.#created.has(name)) return this.#created.get(name)
    const planned = this.#planned ?? []
    const following = planned.slice(planned.findIndex((write) => write.name === name))
    const end = following.findIndex((write) => write.resource !== resource || !mayCreate(write))
    const run = end === -1 ? following : following.slice(0, end)
    const creations = run.map(({ keyOf, args }): Creation => {
      const { input, apiVersion } = args as { input: Values; apiVersion?: string | null }
      return { ...keyOf(args), body: toWireNames(resource, input), apiVersion: apiVersion ?? undefined }
    })
    const written = run.length > 1 ? await createTogether(this.context, resource, creations) : []
    for (const [index, write] of run.entries()) this.#created.set(write.name, written[index])
    return this.#created.get(name)
  }
}

/** Each has its name in the response. */
function plannedWrites(info: GraphQLResolveInfo) {
  const fields = info.schema.getMutationType()?.getFields() ?? {}
  const writes = fieldsBelow(info, [info.operation]).flatMap((node) => {
    const field = fields[node.name.value]
    // `__typename` is a field of every type, and writes nothing.
    if (!field) return []
    const args = getArgumentValues(field, node, info.variableValues)
    return [{ ...(field.extensions['writes'] as WriteTarget), name: (node.alias ?? node.name).value, args }]
  })
  // Fields with the same name are merged.
  return [...new Map(writes.map((write) => [write.name, write])).values()]
}

/** The key to lock, as a text; none for a resource with a generated identifier, or a malformed key. */
function lockedKey({ resource, keyOf, args }: PlannedWrite): string[] {
  const { parentId, id = '' } = keyOf(args)
  return isResourceKey({ parentId, id }) ? [`${resource.path}/${keyText({ parentId, id })}`] : []
}

function mayCreate({ args }: PlannedWrite): boolean {
  return (
    args['input'] !== undefined &&
    args['mayCreate'] !== false &&
    !args['idempotencyKey'] &&
    !args['otherThan']
  )
}
