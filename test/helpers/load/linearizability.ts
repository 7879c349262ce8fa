/** One operation on one resource, as its client saw it. Times are of one clock, in milliseconds. */
export interface Observed {
  readonly kind: 'read' | 'write' | 'refused write'
  readonly began: number
  readonly ended: number
  /** The version it saw or, of a write, made. */
  readonly version: number
  /** The version a write was conditional on. */
  readonly expected?: number
  /** What it read or wrote. */
  readonly value?: string
}

/**
 * Checks the history of a compare-and-set register: whether there is one order of all operations, which
 * agrees with their times, in which each did what it says. Every write makes a version of its own, so the
 * versions are that order, and what is left to check is that they agree with the times, the conditions
 * and the values (Herlihy & Wing, "Linearizability", 1990).
 *
 * @returns what contradicts it
 */
export function contradictions(history: readonly Observed[]): string[] {
  const writes = new Map<number, Observed>()
  const problems: string[] = []
  for (const write of history.filter(({ kind }) => kind === 'write')) {
    if (writes.has(write.version)) problems.push(`two writes made version ${write.version}`)
    if (write.expected !== undefined && write.version !== write.expected + 1) {
      problems.push(`a write on version ${write.expected} made version ${write.version}`)
    }
    writes.set(write.version, write)
  }
  for (const one of history) {
    const { kind, version, value, expected } = one
    if (kind === 'read' && writes.has(version) && writes.get(version)?.value !== value) {
      problems.push(`version ${version} was read as ${value}`)
    }
    if (kind === 'refused write' && version === expected) problems.push(`a write on ${version} was refused`)
    const made = writes.get(version)
    if (made && made.began > one.ended) problems.push(`version ${version} was seen before it was made`)
  }
  return [...problems, ...outOfTime(history)]
}

/** Whoever begins after another has ended must not see an older version, and no write may make one. */
function outOfTime(history: readonly Observed[]): string[] {
  const byBeginning = [...history].sort((one, other) => one.began - other.began)
  const byEnd = [...history].sort((one, other) => one.ended - other.ended)
  const problems: string[] = []
  let newest = 0
  let ended = 0
  for (const one of byBeginning) {
    for (let other = byEnd[ended]; other && other.ended < one.began; other = byEnd[++ended]) {
      newest = Math.max(newest, other.version)
    }
    const isStale = one.kind === 'write' ? one.version <= newest : one.version < newest
    if (isStale) problems.push(`version ${one.version} was seen or made after version ${newest}`)
  }
  return problems
}
