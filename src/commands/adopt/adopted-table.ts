import { escapeIdentifier } from 'pg'
import { camelCase, inWords } from '../../model/definition/labels.ts'
import { isReservedField } from '../../model/problems/field-problems.ts'
import type { Column, Constraint, Measure, Table } from './catalogue.ts'
import { callOf, jsonValue } from './fields.ts'
import { optionsText, quoted, wireName } from './typescript.ts'

/** A table as a collection: the calls that define its fields, and the SQL expressions of their values. */
export interface AdoptedTable {
  readonly table: string
  readonly path: string
  readonly name: string
  readonly description: string
  readonly createdField: string | undefined
  readonly fields: Readonly<Record<string, string>>
  /** By field, with `id`, the time of creation and `last_updated`. */
  readonly columns: Readonly<Record<string, string>>
  /** The paths that it refers to. */
  readonly targets: readonly string[]
  /** What has no counterpart, or another name. */
  readonly remarks: readonly string[]
}

const CREATED =
  /^(created?_?(at|on|date|time|timestamp)?|date_created|creation_date|date_joined|inserted_at)$/
const UPDATED =
  /^((last_)?(updated?|modified)_?(at|on|date|time|timestamp)?|date_(updated|modified)|last_modified)$/

/** What separates the parts of a composite key in an identifier. */
const SEPARATOR = '~'

interface Naming {
  readonly path: string
  readonly name: string
}

/**
 * @param resources the paths and names of all tables that are adopted, by table
 * @param measures of its rows, by column
 */
export function adoptTable(
  { name: table, comment, columns, constraints }: Table,
  resources: ReadonlyMap<string, Naming & { readonly key: readonly string[] }>,
  measures: ReadonlyMap<string, Measure>,
): AdoptedTable {
  const { path, name, key } = resources.get(table) as Naming & { key: readonly string[] }
  const remarks: string[] = []
  const fields: Record<string, string> = {}
  const expressions: Record<string, string> = { id: keyExpression(key) }
  const targets: string[] = []
  const isTime = ({ type }: Column) => /^(timestamp|date$)/.test(type)
  const created = columns.find((one) => isTime(one) && CREATED.test(wireName(one.name)))
  const updated = columns.find((one) => isTime(one) && UPDATED.test(wireName(one.name)))
  const references = constraints.filter(({ kind, columns }) => kind === 'f' && columns.length === 1)
  const names = fieldNames(columns, (column) =>
    references.some((one) => one.columns[0] === column && targetIn(one, resources)),
  )
  if (key.length > 1)
    remarks.push(`its key (${key.join(', ')}) becomes an identifier with ${SEPARATOR} between its parts`)
  for (const one of constraints) {
    const reason = unadopted(one, resources)
    if (reason) remarks.push(`${one.name} (${one.definition}): ${reason}`)
  }
  for (const column of columns) {
    const constraint = references.find((one) => one.columns[0] === column.name)
    const target = constraint && targetIn(constraint, resources)
    if (key.length === 1 && key[0] === column.name && !target) continue
    if (column === created || column === updated) {
      expressions[column === created ? wireName(column.name) : 'last_updated'] = jsonValue(column)
      continue
    }
    const field = names.get(column.name) as string
    if (field !== column.name) remarks.push(`${column.name} is the field ${field}`)
    const text = quoted(column.comment?.trim() || `${inWords(field.replace(/_id$/, ''))}.`)
    const measured = measures.get(column.name) ?? { length: 0, hasBlank: true, scale: 0 }
    const isRequired = column.required && !measured.hasBlank && target?.path !== path
    const unique = uniqueOption(column, constraints, names)
    const options = [isRequired && 'required: true', unique].filter((option) => typeof option === 'string')
    if (target) {
      const isSecond = targets.includes(target.path)
      const relation = field.replace(/_id$/, '')
      if (isSecond) options.push(`inverse: '${path}-of-${relation.replaceAll('_', '-')}'`)
      if (constraint.onDelete === 'c') options.push("onDelete: 'cascade'")
      if (constraint.onDelete === 'n' && !isRequired) options.push("onDelete: 'set null'")
      targets.push(target.path)
      fields[field] = `reference('${target.path}', '${relation}', ${text}${optionsText(options)})`
      expressions[field] = `${escapeIdentifier(column.name)}::text`
      continue
    }
    const call = callOf(column, measured, text, options)
    if (call) [fields[field], expressions[field]] = [call, jsonValue(column)]
    else remarks.push(`${column.name} is left out: there is no field for ${column.type}`)
  }
  const description = comment?.trim() || `${inWords(wireName(table))}.`
  return {
    ...{ table, path, name, description, fields, columns: expressions, targets, remarks },
    createdField: created && wireName(created.name),
  }
}

function fieldNames(columns: readonly Column[], isReference: (column: string) => boolean) {
  const names = new Map<string, string>()
  for (const { name } of columns) {
    const wire = wireName(name)
    const field = isReference(name) ? `${wire.replace(/_(id|code|key)$/, '')}_id` : wire
    const isFree = !isReservedField(field) && !(camelCase(field) in Object.prototype)
    names.set(name, isFree && ![...names.values()].includes(field) ? field : `${field}_value`)
  }
  return names
}

/** Why a constraint has no counterpart. */
function unadopted(one: Constraint, resources: Parameters<typeof adoptTable>[1]): string | undefined {
  const { kind, columns, target } = one
  if (kind === 'c') return 'a rule to write in its definition'
  if (kind !== 'f' || targetIn(one, resources)) return undefined
  if (columns.length > 1) return 'a reference by several columns; they are fields of their own'
  return resources.has(target ?? '') ? 'it refers to another column than the key' : `${target} is not adopted`
}

function targetIn({ target, targetColumns }: Constraint, resources: Parameters<typeof adoptTable>[1]) {
  const found = resources.get(target ?? '')
  const isKey = found?.key.length === 1 && targetColumns?.length === 1 && targetColumns[0] === found.key[0]
  return isKey ? found : undefined
}

function keyExpression(key: readonly string[]): string {
  return key.map((column) => `${escapeIdentifier(column)}::text`).join(` || '${SEPARATOR}' || `)
}

/** The last column of a unique constraint is unique within the others. */
function uniqueOption(
  { name }: Column,
  constraints: readonly Constraint[],
  names: ReadonlyMap<string, string>,
): string | undefined {
  const found = constraints.filter(({ kind, columns }) => kind === 'u' && columns.at(-1) === name)
  const [one] = found.toSorted((a, b) => a.columns.length - b.columns.length)
  if (!one) return undefined
  const others = one.columns.slice(0, -1).map((other) => `'${names.get(other)}'`)
  return others.length === 0 ? 'unique: true' : `unique: { within: [${others.join(', ')}] }`
}
