import { escapeIdentifier as quoted } from 'pg'
import { type Column, fieldOf, type Table } from '../tables/table.ts'
import type { Decisions, Pair, Problem } from './comparison.ts'
import { conversionOf } from './conversions.ts'

/** A change that existing rows can stand against. */
interface Narrowing {
  readonly table: string
  /** A statement whose `count` is the number of what stands against it, before the migration. */
  readonly query: string
  /** A sentence about this number. */
  says(count: number): string
  /** Whether the migration keeps these rows; otherwise it would fail. */
  readonly isKept: boolean
}

/** Counts with a statement on the database of the settings; undefined if that is not possible. */
export type Count = (query: string) => Promise<number | undefined>

/** The rows that stand against changes: why the changes are refused, or what is kept if that is allowed. */
export async function standingAgainst(
  found: readonly Pair[],
  formers: ReadonlyMap<string, Table>,
  { allowInvalidRows }: Decisions,
  count: Count,
): Promise<{ problems: Problem[]; warnings: string[] }> {
  const [problems, warnings]: [Problem[], string[]] = [[], []]
  for (const { table, query, says, isKept } of found.flatMap((pair) => narrowingsOf(pair, formers))) {
    const number = (await count(query)) ?? 0
    if (number === 0) continue
    if (isKept && allowInvalidRows) warnings.push(`${says(number)} They are kept.`)
    else {
      const advice = isKept
        ? 'Change them first, or keep them with --allow-invalid-rows.'
        : 'Change them first.'
      problems.push({ table, text: `${says(number)} ${advice}` })
    }
  }
  return { problems, warnings }
}

/** The text of a problem, with the number of rows that stand against the change, if it can be counted. */
export async function withRows({ table, text, rows }: Problem, count: Count): Promise<Pick<Problem, 'text'>> {
  if (!rows) return { text }
  const query = `SELECT count(*)::float8 AS count FROM ${quoted(table)} WHERE ${rows.condition}`
  const number = await count(query)
  if (!number) return { text }
  return { text: `${text} ${number === 1 ? '1 row has' : `${number} rows have`} ${rows.what}.` }
}

function narrowingsOf(pair: Pair, formers: ReadonlyMap<string, Table>): Narrowing[] {
  const { table, stored, wanted } = pair
  const isChanged = (kind: 'constraints' | 'indexes', name: string) =>
    stored[kind].get(name) !== wanted[kind].get(name)
  const columns = table.columns.filter(
    (column) => stored.columns.has(column.name) && conversionOf(pair, column),
  )
  const isKnown = (text: string) =>
    table.columns.every((column) => columns.includes(column) || !text.includes(quoted(column.name)))
  const rows = rowsOf(pair, columns, formers.get(table.name) ?? table)
  const ofColumns = columns.flatMap((column) => {
    const [check, key] = [`${table.name}_${column.name}_check`, `${table.name}_${column.name}_fkey`]
    const condition = table.checks.find(({ name }) => name === check)?.text
    const { refersTo } = table.foreignKeys.find(({ name }) => name === key) ?? {}
    const target = refersTo === undefined ? undefined : (formers.get(refersTo)?.name ?? refersTo)
    const value = `"row".${quoted(column.name)}`
    const counted = (where: string, what: string): Narrowing => ({
      table: table.name,
      query: `SELECT count(*)::float8 AS count FROM ${rows} WHERE ${where}`,
      says: (count) =>
        `${fieldOf(table, column)}: ${count === 1 ? '1 row has' : `${count} rows have`} a value that ${what}.`,
      isKept: true,
    })
    const narrowings: Narrowing[] = []
    if (condition !== undefined && isChanged('constraints', check))
      narrowings.push(counted(`NOT ${condition.replace(/^CHECK /, '')}`, 'the definition does not allow'))
    if (target !== undefined && isChanged('constraints', key)) {
      const found = `EXISTS (SELECT FROM ${quoted(target)} AS target WHERE target.id = ${value})`
      narrowings.push(counted(`${value} IS NOT NULL AND NOT ${found}`, 'no resource has as its identifier'))
    }
    return narrowings
  })
  const ofIndexes = table.indexes
    .filter(({ name, text, unique }) => unique && isChanged('indexes', name) && isKnown(text))
    .map(
      ({ text }): Narrowing => ({
        table: table.name,
        query: `SELECT count(*)::float8 AS count FROM (SELECT FROM ${rows} WHERE ${text} IS NOT NULL GROUP BY ${text} HAVING count(*) > 1) AS repeated`,
        says: (count) =>
          `${table.resource.path}: ${count} of the values of ${text}, which would be unique, ${count === 1 ? 'is' : 'are'} in several rows.`,
        isKept: false,
      }),
    )
  return [...ofColumns, ...ofIndexes]
}

/** The existing rows, with the new names and types of these columns. */
function rowsOf(pair: Pair, columns: readonly Column[], former: Table): string {
  const values = columns.map((column) => {
    const { name } = former.columns[pair.table.columns.indexOf(column)] ?? column
    return `${conversionOf(pair, column)?.convert(quoted(name))} AS ${quoted(column.name)}`
  })
  return `(SELECT ${values.join(', ')} FROM ${quoted(former.name)}) AS "row"`
}
