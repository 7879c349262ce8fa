import type { Address } from '../../domain/model/identifiers.ts'
import { type Resource, tableName } from '../../domain/model/resource.ts'

/** A statement, and the values for its parameters. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** The table of a resource, as SQL names it. */
export function tableOf({ path }: Resource): string {
  return quoted(tableName(path))
}

/** The columns of a row, by name: a prepared statement must not depend on which others there are. */
export function columnsOf({ leaves }: Resource): string {
  return [...leaves.map(({ column }) => column), 'version'].map(quoted).join(', ')
}

/** The columns that identify a resource, with their values. */
export function keyOf({ parentField }: Resource, { parentId, id }: Address) {
  return parentField ? { [parentField]: parentId, id } : { id }
}

/** A name as SQL has it, whatever the letters in it. */
export function quoted(name: string): string {
  return `"${name}"`
}

/** The values of a statement, which takes them apart from its text. */
export class Parameters {
  readonly values: unknown[] = []

  /** The place that the text has for a value. */
  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}
