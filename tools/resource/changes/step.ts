/**
 * In the order of a migration. Triggers and references come before rows change, and checks after, because PostgreSQL would
 * refuse to change the rows that are kept although they are not valid.
 */
const PHASES = [
  'rename',
  'drop',
  'create',
  'column',
  'trigger',
  'constraint',
  'fill',
  'require',
  'index',
  'raise',
  'check',
  'empty',
  'remove',
] as const

/** The table locks that migrations take, the weakest first. */
const LOCKS = ['ROW EXCLUSIVE', 'SHARE', 'SHARE ROW EXCLUSIVE', 'ACCESS EXCLUSIVE'] as const

export type Lock = (typeof LOCKS)[number]

/** A part of a migration. */
export interface Step {
  readonly phase: (typeof PHASES)[number]
  readonly table: string
  /** A sentence for the user. Parts of a larger change have none. */
  readonly says?: string | undefined
  /** Locks on existing tables; by default the strongest, on its own. */
  readonly locks?: Readonly<Record<string, Lock>>
  /** Work that grows with the number of rows: `rewrites the rows without language`. */
  readonly work?: string
  /** The name of a removed table or column. */
  readonly gone?: string
  /** Without semicolons. */
  readonly sql: readonly string[]
}

/** Steps of one phase keep their order. */
export function inOrder(steps: readonly Step[]): Step[] {
  return [...steps].sort((one, other) => PHASES.indexOf(one.phase) - PHASES.indexOf(other.phase))
}

export function locksOf({ table, locks = { [table]: 'ACCESS EXCLUSIVE' } }: Step) {
  return locks
}

export function strongest(locks: readonly Lock[]): Lock {
  return LOCKS[Math.max(...locks.map((lock) => LOCKS.indexOf(lock)))] as Lock
}

/** The longest line of a comment. */
const WIDTH = 116

/** The text of a migration: statements, each with a comment. */
export function migrationSql(steps: readonly Step[], warnings: readonly string[] = []): string {
  const parts = steps.map(({ says, sql }) =>
    [...(says ? wrapped(says) : []), ...sql.map((statement) => `${statement};`)].join('\n'),
  )
  return `${[...warnings.map((warning) => wrapped(`WARNING: ${warning}`).join('\n')), ...parts].join('\n\n')}\n`
}

function wrapped(text: string): string[] {
  const lines = ['--']
  for (const word of text.split(/\s+/)) {
    if (`${lines.at(-1)} ${word}`.length > WIDTH) lines.push('--')
    lines.push(`${lines.pop()} ${word}`)
  }
  return lines
}
