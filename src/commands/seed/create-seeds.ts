import { prismaModel } from '../../database/extension.ts'
import type { Seed } from '../../documents/openapi/examples.ts'
import type { WriteContext } from '../../domain/context.ts'
import { putResource } from '../../domain/write.ts'
import { resourceNamed } from '../../service/command.ts'

/**
 * @returns the number of created resources; existing ones stay unchanged
 * @throws {ArgumentsError} for an unknown collection
 */
export async function createSeeds(seeds: readonly Seed[], context: WriteContext): Promise<number> {
  let created = 0
  for (const { collection, parent: parentId, id = parentId as string, ...body } of seeds) {
    const resource = resourceNamed(collection, context)
    const key = { parentId, id }
    if (await prismaModel(context.client, resource).findByKey(resource, key)) continue
    await putResource(context, resource, key, body, { mayCreate: true, mayReplace: false, readOnly: {} })
    created += 1
  }
  return created
}
