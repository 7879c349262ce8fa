import type { Resource, Values } from '../domain/resource.ts'
import type { Data } from '../graph/operation.ts'

/**
 * The fields of a resource as a client sees them: what is hidden and what is not set is left out
 * (SPEC §2.1). The data of an operation has them in order, by their wire names.
 */
export function representation(resource: Resource, data: Data): Values {
  const shown: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(resource.allFields)) {
    const value = data[name]
    if (field.hidden || value === null || value === undefined) continue
    shown[name] = field.type === 'group' ? setMembers(value as Data) : value
  }
  return shown
}

function setMembers(group: Data): Values {
  return Object.fromEntries(Object.entries(group).filter(([, value]) => value !== null))
}
