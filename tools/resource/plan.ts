import type { PGlite } from '@electric-sql/pglite'
import type { Migration } from '../../src/database/migrations/migration-files.ts'
import type { Resource } from '../../src/model/definition/resource.ts'
import { CommandError } from '../../src/service/command.ts'
import type { Decisions, Problem } from './changes/comparison.ts'
import { difference, raisesOfRenames, raising, suspending } from './changes/difference.ts'
import { formerResources } from './changes/former.ts'
import { migratable, remaining } from './changes/migratable.ts'
import type { Count } from './changes/narrowing.ts'
import { renames } from './changes/renames.ts'
import { inOrder, migrationSql, type Step } from './changes/step.ts'
import type { Catalogue } from './tables/catalogue.ts'
import { generated } from './tables/generated.ts'
import { type Shadow, withShadow } from './tables/shadow.ts'
import { makeTable, type Table } from './tables/table.ts'

export interface Plan {
  /** In the order of execution; empty if the tables match the definitions. */
  readonly steps: readonly Step[]
  /** Changes that the user has to make, and rows that are kept although they are not valid. */
  readonly warnings: readonly string[]
  /** Why other tables stay as they are; no step changes them. */
  readonly refused: readonly Problem[]
}

export interface PlanOptions {
  /** Where to try the migration; by default in a new one. */
  readonly engine?: PGlite
  /** Counts the rows that stand against it. */
  readonly count?: Count
}

/**
 * Plans the migration from the tables of these migrations to those of the definitions, and tries it on a database without
 * rows. Tables whose changes are impossible, would lose data or would keep invalid rows without permission, are left out.
 *
 * @throws {CommandError} if no table is left
 */
export async function planMigration(
  resources: readonly Resource[],
  migrations: readonly Pick<Migration, 'name' | 'sql'>[],
  decisions: Decisions,
  { engine, count = async () => undefined }: PlanOptions,
): Promise<Plan> {
  return withShadow(migrations, (shadow) => plan(shadow, resources, decisions, count), engine)
}

async function plan(shadow: Shadow, resources: readonly Resource[], decisions: Decisions, count: Count) {
  const tables = resources.map(makeTable)
  const before = await shadow.current()
  const formerTables = formerResources(resources, before).map(makeTable)
  const renaming = renames(resources, before)
  if (renaming.length > 0) await shadow.apply(migrationSql(renaming))
  const desired = await shadow.desired(tables)
  const renamed = await shadow.current()
  const formers = new Map(tables.map(({ name }, index) => [name, formerTables[index] as Table]))
  const { kept, found, existing, warnings, refused } = await migratable(
    { all: tables, formers, current: renamed, desired },
    decisions,
    count,
  )
  // A rename changes what other tables refer to.
  if (found.steps.length === 0 || renaming.length > 0) refuse(refused)
  const raises = [...raisesOfRenames(tables, formerTables), ...found.raises]
  const changing = [...found.steps, ...raising(raises)]
  const rest = inOrder([...changing, ...suspending(changing, existing)])
  if (rest.length > 0) await shadow.apply(migrationSql(rest))
  const after = await shadow.current()
  const left = difference(kept, remaining(after, refused), desired, decisions)
  const leftOver = left.steps.map(({ table, says = '' }) => {
    return { text: `${table} would still differ from its definition. ${says}` }
  })
  refuse([...leftOver, ...lostObjects(renamed, after)])
  const steps = inOrder([...renaming, ...rest])
  return { steps, warnings: [...warnings, ...(await staleFunctions(shadow, steps))], refused }
}

function refuse(problems: readonly Pick<Problem, 'text'>[]): void {
  if (problems.length > 0) throw new CommandError(`No migration was written.\n${linesOf(problems)}`)
}

/** A line for each of the problems. */
export function linesOf(problems: readonly Pick<Problem, 'text'>[]): string {
  return problems.map(({ text }) => `- ${text}`).join('\n')
}

/** PostgreSQL drops constraints and indexes with their columns. Those written by hand must not disappear silently. */
function lostObjects(before: Catalogue, after: Catalogue): Problem[] {
  return [...before.values()].flatMap((stored) => {
    const left = after.get(stored.name)
    if (!left) return []
    const made = generated(stored)
    const isLost = (kind: (typeof KINDS)[number], name: string) =>
      !left[kind].has(name) && !made[kind].includes(name)
    const names = KINDS.flatMap((kind) => [...stored[kind].keys()].filter((name) => isLost(kind, name)))
    return names.map((name) => ({
      table: stored.name,
      text: `${stored.name}: ${name} was written by hand and would be dropped with its column. First drop it in a separate migration.`,
    }))
  })
}

const KINDS = ['constraints', 'indexes', 'triggers'] as const

/** Functions written by hand that contain a removed name: PostgreSQL reports that only when they run. */
async function staleFunctions(shadow: Shadow, steps: readonly Step[]): Promise<string[]> {
  const names = [...new Set(steps.flatMap(({ gone }) => (gone === undefined ? [] : [gone])))]
  const warnings = names.map(async (name) => {
    const functions = await shadow.functionsNaming(name)
    if (functions.length === 0) return []
    return [
      `The text of ${functions.join(', ')} contains ${name}, which is removed. Replace it in this migration.`,
    ]
  })
  return (await Promise.all(warnings)).flat()
}
