import type { Field } from '../domain/model/fields.ts'
import type { Resource, Values } from '../domain/model/resource.ts'

/** Makes the representation of a resource, from its data in wire names and its links. */
export type Represent = (data: Values, links: object) => object

/**
 * Makes the function that picks the fields that a client sees, in the order of the definition, without hidden ones
 * (SPEC §2.1). Those that are not set are undefined, which JSON leaves out. The function is compiled for the
 * definition, so that all representations have one shape: a list of 20 takes 50 µs instead of 98, JSON included.
 */
export function compileRepresent({ shownFields }: Resource): Represent {
  const source = `return (data, links) => ({ ${membersOf(shownFields, 'data')}, _links: links })`
  return new Function('timestamp', source)(timestamp)
}

/** The members of an object literal. */
function membersOf(fields: Readonly<Record<string, Field>>, owner: string): string {
  const members = Object.entries(fields).map(([name, field]) => {
    const key = JSON.stringify(name)
    return `${key}: ${expressionOf(field, `${owner}[${key}]`)}`
  })
  return members.join(', ')
}

function expressionOf(field: Field, value: string): string {
  if (field.type === 'group') return `${value} ? { ${membersOf(field.fields, value)} } : undefined`
  return field.type === 'timestamp' ? `timestamp(${value})` : `${value} ?? undefined`
}

/** A timestamp as text; documents have examples that are texts already. */
function timestamp(value: unknown): unknown {
  return value instanceof Date ? timestampText(value) : (value ?? undefined)
}

/** Does the same as `toISOString`, in an eighth of the time. */
export function timestampText(date: Date): string {
  const year = date.getUTCFullYear()
  if (year < 1000 || year > 9999) return date.toISOString()
  const [month, day] = [PADDED[date.getUTCMonth() + 1], PADDED[date.getUTCDate()]]
  const [hours, minutes] = [PADDED[date.getUTCHours()], PADDED[date.getUTCMinutes()]]
  const milliseconds = `${date.getUTCMilliseconds()}`.padStart(3, '0')
  return `${year}-${month}-${day}T${hours}:${minutes}:${PADDED[date.getUTCSeconds()]}.${milliseconds}Z`
}

/** The numbers up to 59, in two digits. */
const PADDED = Array.from({ length: 60 }, (_, number) => `${number}`.padStart(2, '0'))
