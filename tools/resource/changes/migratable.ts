import { type Catalogue, type StoredTable, targetsOf } from '../tables/catalogue.ts'
import type { Table } from '../tables/table.ts'
import { type Decisions, type Problem, pairs } from './comparison.ts'
import { difference } from './difference.ts'
import { type Count, standingAgainst, withRows } from './narrowing.ts'

interface Tables {
  readonly all: readonly Table[]
  /** With their former names, by the new one. */
  readonly formers: ReadonlyMap<string, Table>
  readonly current: Catalogue
  readonly desired: Catalogue
}

/** The changes of the tables that can be migrated, and why the others stay as they are. */
export async function migratable(tables: Tables, decisions: Decisions, count: Count) {
  const refused: Problem[] = []
  for (;;) {
    const kept = tables.all.filter(isWithout(refused))
    const current = remaining(tables.current, refused)
    const found = difference(kept, current, tables.desired, decisions, tables.all)
    const existing = pairs(kept, current, tables.desired)
    const against = await standingAgainst(existing, tables.formers, decisions, count)
    const problems = [...found.problems, ...against.problems, ...tiedTo(refused, kept, tables)]
    if (problems.length === 0) return { kept, found, existing, warnings: against.warnings, refused }
    for (const problem of problems)
      refused.push(isRenamed(problem, tables) ? problem : { ...problem, ...(await withRows(problem, count)) })
  }
}

/** Whether the database has other names of the table or its columns, so that its rows cannot be counted. */
function isRenamed({ table: name }: Problem, { all, formers }: Tables): boolean {
  const namesOf = (table: Table | undefined) => [
    table?.name,
    ...(table?.columns ?? []).map((column) => column.name),
  ]
  return namesOf(formers.get(name)).join() !== namesOf(all.find((table) => table.name === name)).join()
}

/** The tables without those that have a problem. */
export function remaining(catalogue: Catalogue, problems: readonly Problem[]): Catalogue {
  return new Map([...catalogue].filter(([, table]) => isWithout(problems)(table)))
}

function isWithout(problems: readonly Problem[]): (table: { readonly name: string }) => boolean {
  return ({ name }) => !problems.some(({ table }) => table === name)
}

/** A changed reference to a table that is not migrated stays as it is, because the models of both have it. */
function tiedTo(refused: readonly Problem[], kept: readonly Table[], { current, desired }: Tables) {
  const targets = [...new Set(refused.map(({ table }) => table))]
  return kept.flatMap(({ name, resource: { path } }) =>
    targets
      .filter((target) => references(current.get(name), target) !== references(desired.get(name), target))
      .map((target) => ({
        table: name,
        text: `${path}: its reference to ${target} changes, which is not migrated.`,
      })),
  )
}

function references(table: StoredTable | undefined, target: string): string {
  const constraints = [...(table?.constraints.values() ?? [])]
  return constraints
    .filter((text) => targetsOf([text]).includes(target))
    .sort()
    .join()
}
