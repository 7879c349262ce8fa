import type { ApiVersion } from '../../src/model/definition/domain.ts'
import { type Lock, locksOf, type Step, strongest } from './changes/step.ts'
import type { Plan } from './plan.ts'

const EFFECTS: Readonly<Record<Lock, string>> = {
  'ROW EXCLUSIVE': 'reads and writes go on; a write of a row that it changes waits',
  SHARE: 'reads go on, writes wait',
  'SHARE ROW EXCLUSIVE': 'reads go on, writes wait',
  'ACCESS EXCLUSIVE': 'reads and writes wait',
}

/** Describes what a migration does and which locks it takes, by table, and what clients notice of new names. */
export function explain({ steps, warnings }: Plan, versions: readonly ApiVersion[]): string {
  const tables = [...new Set(steps.flatMap((step) => [step.table, ...Object.keys(locksOf(step))]))]
  const sections = tables.map((table) => explainTable(table, steps))
  const notes = warnings.map((warning) => `WARNING: ${warning}`)
  const served = versions.map(({ name }) => name).join(' and ')
  const api = served === '' ? 'the API' : `every version of the API (${served})`
  const isNoted = steps.some(({ phase, says }) => phase === 'rename' && says)
  const renaming = `A new name counts at once in ${api}, and in past states (/versions). The former name is unknown there, unless a field keeps it by \`formerly\`.`
  return [...sections, ...(isNoted ? [renaming] : []), ...notes].join('\n')
}

function explainTable(table: string, steps: readonly Step[]): string {
  const own = steps.filter((step) => step.table === table)
  const sentences = own.flatMap(({ says }) => (says ? [`  - ${says}`] : []))
  const works = [...new Set(own.flatMap(({ work }) => (work ? [work] : [])))]
  const locks = steps.flatMap((step) => locksOf(step)[table] ?? [])
  const isInstant = steps.every(({ work }) => work === undefined)
  return [
    table,
    ...sentences,
    ...(locks.length > 0 ? [`  ${locking(strongest(locks), isInstant)}`] : []),
    ...(works.length > 0 ? [`  Work: ${works.join(', ')}.`] : []),
  ].join('\n')
}

/** The migration is one transaction, which keeps its locks until the end. */
function locking(lock: Lock, isInstant: boolean): string {
  const time = isInstant ? 'for an instant, since no row is read or written' : 'until the migration ends'
  return `Lock: ${lock} (${EFFECTS[lock]}) ${time}.`
}
