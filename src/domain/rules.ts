import type { Client } from '../database/client.ts'
import { prismaModel } from '../database/extension.ts'
import type { Change } from '../model/database-rule.ts'
import { type Detail, refuseRuleViolation } from '../model/errors.ts'
import { isIdentifier } from '../model/identifiers.ts'
import { relationsOf } from '../model/relations.ts'
import type { Resource } from '../model/resource.ts'
import { toValues } from '../model/rows.ts'
import { runRules } from '../model/validate.ts'

/** A change with the whole client, not only the part for rules. */
export type ClientChange = Change & { readonly client: Client }

/**
 * Checks the rules of a definition, its references, and its database rule.
 *
 * @throws {DomainError} BUSINESS_RULE_VIOLATION (422), or an error of the database rule
 */
export async function refuseBrokenRules(
  change: ClientChange,
  resource: Resource,
  resources: readonly Resource[],
): Promise<void> {
  const { before, after } = change
  const values = toValues(resource, { ...before, ...after })
  const broken = runRules(resource.rules, values, before && toValues(resource, before))
  refuseRuleViolation([...broken, ...(await unknownReferences(change, resource, resources))])
  await resource.databaseRule?.(change)
}

/** Checks only changed references; foreign keys keep the others valid. */
async function unknownReferences(
  { client, before, after }: ClientChange,
  resource: Resource,
  resources: readonly Resource[],
): Promise<Detail[]> {
  const changed = relationsOf(resource, resources).filter(
    ({ leaf }) => resource.writable.includes(leaf) && after?.[leaf.column] !== before?.[leaf.column],
  )
  const details = changed.map(async ({ leaf, target }): Promise<Detail[]> => {
    const id = after?.[leaf.column] as string | null
    if (id === null || (isIdentifier(id) && (await prismaModel(client, target).findByKey(target, { id }))))
      return []
    const message = `There is no resource ${JSON.stringify(id)} in ${target.path}.`
    return [{ field: leaf.name, code: 'UNKNOWN_REFERENCE', message }]
  })
  return (await Promise.all(details)).flat()
}
