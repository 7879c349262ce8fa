/** The order of the parts of a migration. Triggers are right before rows change, constraints before rows are filled. */
const PHASES = [
  'rename',
  'trigger',
  'drop',
  'create',
  'column',
  'constraint',
  'fill',
  'require',
  'index',
  'raise',
  'empty',
  'remove',
] as const

/** PostgreSQL's table locks that migrations take, the weakest first. */
const LOCKS = ['ROW EXCLUSIVE', 'SHARE', 'SHARE ROW EXCLUSIVE', 'ACCESS EXCLUSIVE'] as const

export type Lock = (typeof LOCKS)[number]

/** A part of a migration. */
export interface Step {
  readonly phase: (typeof PHASES)[number]
  /** The table that it is about. */
  readonly table: string
  /** What it does, as a sentence in plain words. Parts of a larger change have none. */
  readonly says?: string
  /** The locks that it takes on tables which exist. */
  readonly locks?: Readonly<Record<string, Lock>>
  /** The work that grows with the number of rows, as in `rewrites the rows without language`. */
  readonly work?: string
  /** The name of a table or a column that does not exist afterwards. */
  readonly gone?: string
  /** Without semicolons. */
  readonly sql: readonly string[]
}

/** The steps in the order of execution. Steps of one phase keep their order. */
export function inOrder(steps: readonly Step[]): Step[] {
  return [...steps].sort((one, other) => PHASES.indexOf(one.phase) - PHASES.indexOf(other.phase))
}

/** The strongest of some locks. */
export function strongest(locks: readonly Lock[]): Lock {
  return LOCKS[Math.max(...locks.map((lock) => LOCKS.indexOf(lock)))] as Lock
}
