import { escapeLiteral as literal, escapeIdentifier as quoted } from 'pg'
import { targetsOf } from '../tables/catalogue.ts'
import { addColumn, alterColumn, answered, dropColumn } from '../tables/statements.ts'
import { type Column, fieldOf, nameOf, type Table } from '../tables/table.ts'
import type { Decisions, Difference, Pair, Problem } from './comparison.ts'
import { conversionOf, convertedType, lossyType, rowsWith, unfitRows } from './conversions.ts'
import type { Step } from './step.ts'

export function columnDifference(pair: Pair, decisions: Decisions): Difference {
  const { table, stored } = pair
  const added = table.columns.filter(({ name }) => !stored.columns.has(name))
  const removed = [...stored.columns.keys()].filter(
    (name) => !table.columns.some((column) => column.name === name),
  )
  const changed = table.columns.filter(({ name }) => stored.columns.has(name))
  const filled = [
    ...added.filter(({ notNull }) => notNull),
    ...changed.filter(({ name, notNull }) => notNull && !stored.columns.get(name)?.notNull),
  ]
  const { allowDataLoss } = decisions
  const stating = (texts: readonly string[], rows?: Problem['rows']): Problem[] =>
    texts.map((text) => ({ table: table.name, text, ...(rows && { rows }) }))
  return {
    steps: [
      ...pair.recomputed.map(({ name }) => recomputation(table, name)),
      ...changed.flatMap((column) => alterations(pair, column)),
      ...added.map((column) => addition(table, column)),
      ...filling(table, filled, added, decisions),
      ...removed.map((column) => removal(table, column)),
    ],
    raises: [
      ...removed.flatMap((column) => raisesOfRemoval(pair, column)),
      ...added.filter(({ generated }) => generated).map(() => ({ table: table.name, condition: 'TRUE' })),
      ...changed
        .filter((column) => conversionOf(pair, column)?.isShown)
        .map(({ name }) => ({ table: table.name, condition: `${quoted(name)} IS NOT NULL` })),
    ],
    problems: [
      ...filled.flatMap((column) =>
        stating(missingValue(table, column, decisions), {
          condition: added.includes(column) ? 'TRUE' : `${quoted(column.name)} IS NULL`,
          what: 'no value',
        }),
      ),
      ...changed.flatMap((column) => stating(lossyType(pair, column), unfitRows(pair, column))),
      ...(allowDataLoss
        ? []
        : [
            ...removed.flatMap((column) => stating(lostValue(pair, added, column), rowsWith(column))),
            ...stating(replacedValues(pair)),
          ]),
    ],
  }
}

function addition(table: Table, column: Column): Step {
  const { name, resource } = table
  return {
    phase: 'column',
    table: name,
    says: `The field ${nameOf(column)} is added.${existing(column)}`,
    ...(column.generated !== undefined && { work: 'rewrites the table' }),
    sql: [
      addColumn(name, column),
      ...(column.default ? [alterColumn(name, column.name, `SET DEFAULT ${column.default}`)] : []),
      ...(column.notNull ? [] : [addToAnswers(resource.path, column.name, 'null')]),
    ],
  }
}

function existing({ generated, notNull }: Column): string {
  if (generated !== undefined) return ` It is computed for every row: ${generated}.`
  return notNull ? '' : ' Existing rows have no value, and keep their versions.'
}

function recomputation({ name: table }: Table, column: string): Step {
  const says = `The field ${column} is dropped, with its indexes, to be computed by its new expression.`
  return { phase: 'drop', table, says, sql: [dropColumn(table, column)] }
}

/** Stored responses to requests with an idempotency key contain rows, too. */
function addToAnswers(path: string, column: string, value: string): string {
  return `UPDATE "idempotency_keys" SET "answer" = "answer" || jsonb_build_object(${literal(column)}, ${value}) WHERE "collection" = ${literal(path)} AND "answer" -> ${literal(column)} IS NULL`
}

function alterations(pair: Pair, column: Column): Step[] {
  const [now, then] = [pair.stored.columns.get(column.name), pair.wanted.columns.get(column.name)]
  const table = pair.table.name
  const steps: Step[] = []
  const alter = (says: string, change: string) =>
    steps.push({ phase: 'column', table, says, sql: [alterColumn(table, column.name, change)] })
  if (now?.isGenerated && !then?.isGenerated)
    alter(`The field ${nameOf(column)} is no longer computed. Its values stay.`, 'DROP EXPRESSION')
  else if (now?.default !== then?.default && now?.type === then?.type) {
    const change = column.default ? `SET DEFAULT ${column.default}` : 'DROP DEFAULT'
    alter(
      `The column ${column.name} has ${column.default ? `the default ${column.default}` : 'no default'}.`,
      change,
    )
  }
  if (now?.notNull && !then?.notNull) alter(`The field ${nameOf(column)} becomes optional.`, 'DROP NOT NULL')
  return [...steps, ...convertedType(pair, column)]
}

/** One UPDATE for all columns, so that each row gets one new version. */
function filling(table: Table, filled: readonly Column[], added: readonly Column[], decisions: Decisions) {
  if (filled.length === 0) return []
  const { name, resource } = table
  const valued = filled.map((column) => ({ column, value: valueFor(table, column, decisions) ?? 'NULL' }))
  const values = valued.map(
    ({ column, value }) => `${quoted(column.name)} = COALESCE(${quoted(column.name)}, ${value})`,
  )
  const unset = filled.map(({ name }) => `${quoted(name)} IS NULL`).join(' OR ')
  return [
    ...valued.map(({ column, value }, index): Step => {
      const rows = added.includes(column) ? 'Existing rows' : 'Rows without a value'
      const update = index === 0 ? [`UPDATE ${quoted(name)} SET ${values.join(', ')} WHERE ${unset}`] : []
      return {
        phase: 'fill',
        table: name,
        says: `${rows} get ${value.replace(/::[a-z ]+.*$/, '')} as ${nameOf(column)}: their versions and entity tags change.`,
        locks: { [name]: 'ROW EXCLUSIVE' },
        work: `writes every row without ${nameOf(column)}`,
        sql: [...update, addToAnswers(resource.path, column.name, answered(column.type, value))],
      }
    }),
    ...filled.map(
      (column): Step => ({
        phase: 'require',
        table: name,
        says: `The field ${nameOf(column)} is set in every row from now on.`,
        work: `reads every row for ${nameOf(column)}`,
        sql: [alterColumn(name, column.name, 'SET NOT NULL')],
      }),
    ),
  ]
}

/** The value for existing rows as SQL: from the command line, or else the initial one of the definition. */
function valueFor(table: Table, column: Column, { defaults }: Decisions): string | undefined {
  return defaults.get(fieldOf(table, column)) ?? column.default
}

function missingValue(table: Table, column: Column, decisions: Decisions): string[] {
  if (valueFor(table, column, decisions) !== undefined) return []
  const field = fieldOf(table, column)
  return [
    `${field} is required, and existing rows have no value. Name one with --default ${field}=<value>, declare ` +
      '`initially` in the definition, or make the field optional.',
  ]
}

function removal({ name: table }: Table, column: string): Step {
  const says = `The field ${column} is removed WITH ITS VALUES. Rows that have one get a new version.`
  return { phase: 'remove', table, says, gone: column, sql: [dropColumn(table, column)] }
}

/** Rows that lose a value, and targets of a reference, which lose a link, need a new version. */
function raisesOfRemoval({ table: { name }, stored }: Pair, column: string): Difference['raises'] {
  const targets = targetsOf([stored.constraints.get(`${name}_${column}_fkey`) ?? ''])
  return [
    { table: name, condition: `${quoted(column)} IS NOT NULL` },
    ...targets.map((target) => ({ table: target, condition: 'TRUE' })),
  ]
}

function lostValue({ table, stored }: Pair, added: readonly Column[], column: string): string[] {
  const beginning = (type = '') => type.slice(0, 4).toLowerCase()
  const type = beginning(stored.columns.get(column)?.type)
  const similar = added.filter((other) => beginning(other.type) === type).map(nameOf)
  const hint =
    similar.length > 0
      ? ` If ${similar.join(' or ')} is its new name, declare it there: renamedFrom: '${column}'.`
      : ''
  return [
    `${table.resource.path}: the values of ${column} would be lost, which the definition no longer has.${hint} To delete them, add --allow-data-loss.`,
  ]
}

function replacedValues({ table: { resource }, recomputed }: Pair): string[] {
  const replaced = recomputed.filter(({ isGenerated }) => !isGenerated)
  return replaced.map(
    ({ name }) =>
      `${resource.path}: the values of ${name} would be lost, because it is computed now. To delete them, add --allow-data-loss.`,
  )
}
