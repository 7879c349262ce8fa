import type { Resource, Values } from '../domain/model/resource.ts'
import type { Data } from '../graph/execution/operation.ts'

/** Shows the data of an operation, which has the fields by their wire names. */
export type Represent = (data: Data) => Record<string, unknown>

/**
 * Makes what picks the fields of a resource that a client sees, in the order of the definition: what is
 * hidden and what is not set is left out (SPEC §2.1). Works on the names alone, which are worked out once:
 * of a list of 20, to take the definition apart for each item was a tenth of all that was done.
 */
export function createRepresent({ shownFields }: Resource): Represent {
  const shown = Object.entries(shownFields)
  const names = shown.map(([name]) => name)
  const groups = new Set(shown.filter(([, field]) => field.type === 'group').map(([name]) => name))
  return (data) => {
    const values: Record<string, unknown> = {}
    for (const name of names) {
      const value = data[name]
      if (value === null || value === undefined) continue
      values[name] = groups.has(name) ? setMembers(value as Data) : value
    }
    return values
  }
}

function setMembers(group: Data): Values {
  const members: Record<string, unknown> = {}
  for (const name of Object.keys(group)) if (group[name] !== null) members[name] = group[name]
  return members
}
