import { setTimeout as delay } from 'node:timers/promises'
import type { Json } from '../service/client.ts'
import type { ServiceProcess } from '../service/service-process.ts'
import { type Outcome, runLoad, type Sent, send } from './load.ts'

/**
 * What a client knows of the species it wrote: what was acknowledged, and what was sent last and never
 * answered, which may or may not have happened.
 */
export interface Ledger {
  /** By id: the habitat that was acknowledged, or null for an acknowledged deletion. */
  readonly acknowledged: Map<string, string | null>
  /** By id: what was sent and never answered. */
  readonly uncertain: Map<string, string | null>
  /** How many writes were acknowledged in all. */
  count: number
}

export function createLedger(): Ledger {
  return { acknowledged: new Map(), uncertain: new Map(), count: 0 }
}

/** The members of a species that tell whether it is torn: each repeats the same mark. */
export function markedSpecies(id: string, mark: string) {
  return {
    id,
    scientific_name: `${id} ${mark}`,
    common_name: mark,
    habitat: mark,
    classification: { kingdom: mark, class: mark, phylum: mark },
  }
}

/**
 * Writes species (creates, replaces, deletes; each caller its own) until the service is gone, and keeps
 * the ledger. Returns when every caller has noticed.
 */
export async function writeUntilGone(
  origin: string,
  ledger: Ledger,
  round: number,
  callers: number,
): Promise<void> {
  const isBusy = new Set<string>()
  const next = (number: number): Sent & { id: string; mark: string | null } => {
    let slot = number % (callers * 8)
    while (isBusy.has(`r${round}-${slot}`)) slot = (slot + 1) % (callers * 8)
    const id = `r${round}-${slot}`
    isBusy.add(id)
    const exists = typeof ledger.acknowledged.get(id) === 'string'
    const path = `/api/v1/species/${id}`
    if (exists && number % 5 === 0) return { method: 'DELETE', path, id, mark: null }
    const mark = `m${number}`
    return { method: 'PUT', path, body: markedSpecies(id, mark), id, mark }
  }
  await runLoad(origin, callers, next, (sent, outcome) => {
    const { id, mark } = sent as ReturnType<typeof next>
    isBusy.delete(id)
    note(ledger, id, mark, outcome)
  })
}

function note(ledger: Ledger, id: string, mark: string | null, outcome: Outcome): void {
  if (outcome.kind === 'answered' && outcome.status < 300) {
    ledger.acknowledged.set(id, mark)
    ledger.uncertain.delete(id)
    ledger.count++
  } else if (outcome.kind !== 'refused') {
    ledger.uncertain.set(id, mark)
  }
}

/** Reads everything in the ledger back; says what is not as it was acknowledged. */
export async function compare(origin: string, { acknowledged, uncertain }: Ledger): Promise<string[]> {
  const problems: string[] = []
  const entries = [...new Set([...acknowledged.keys(), ...uncertain.keys()])]
  let position = 0
  const check = async () => {
    while (position < entries.length) {
      const id = entries[position++] as string
      const outcome = await send(origin, { method: 'GET', path: `/api/v1/species/${id}` })
      const found = foundMark(outcome)
      const allowed = new Set<string | null | undefined>([acknowledged.get(id) ?? null])
      if (uncertain.has(id)) allowed.add(uncertain.get(id))
      if (!allowed.has(found))
        problems.push(`${id}: ${String(found)} instead of ${[...allowed].join(' or ')}`)
      // What is there now is what is known from now on.
      else acknowledged.set(id, found as string | null)
    }
  }
  await Promise.all(Array.from({ length: 8 }, check))
  uncertain.clear()
  return problems
}

/** The mark of a whole species; null where there is none; a description of what is wrong otherwise. */
export function foundMark(outcome: Outcome): string | null {
  if (outcome.kind !== 'answered') return `no answer (${outcome.kind})`
  if (outcome.status === 404 || outcome.status === 410) return null
  if (outcome.status !== 200) return `status ${outcome.status}`
  return markOf(JSON.parse(outcome.body))
}

/** The same for a representation of a species. */
export function markOf(species: Json): string {
  const { scientific_name, common_name, habitat, classification, id } = species
  const marks = new Set([
    common_name,
    habitat,
    classification?.kingdom,
    classification?.class,
    classification?.phylum,
  ])
  const isWhole = marks.size === 1 && scientific_name === `${id} ${habitat}`
  return isWhole ? habitat : `torn: ${JSON.stringify(species)}`
}

/** How long a service takes until it is ready, in milliseconds. */
export async function timeUntilReady(service: ServiceProcess): Promise<number> {
  const started = performance.now()
  const origin = await service.origin
  for (;;) {
    const outcome = await send(origin, { method: 'GET', path: '/health/ready' })
    if (outcome.kind === 'answered' && outcome.status === 200) return performance.now() - started
    await delay(10)
  }
}

/**
 * Kills a service under write load again and again, and compares what it has after each restart with what
 * it acknowledged.
 *
 * @param start starts the service on the same database
 * @returns what was wrong, how many writes were acknowledged, and the longest start in milliseconds
 */
export async function killRepeatedly(
  start: () => ServiceProcess,
  rounds: number,
  writesPerRound: number,
  report: (line: string) => void = () => {},
) {
  const ledger = createLedger()
  const problems: string[] = []
  let slowest = 0
  for (let round = 0; round <= rounds; round++) {
    const service = start()
    const milliseconds = await timeUntilReady(service)
    if (round > 0) slowest = Math.max(slowest, milliseconds)
    const origin = await service.origin
    problems.push(...(await compare(origin, ledger)))
    if (round === rounds) {
      service.kill('SIGKILL')
      await service.exited
      break
    }
    const before = ledger.count
    const writing = writeUntilGone(origin, ledger, round, 8)
    while (ledger.count - before < writesPerRound && service.child.exitCode === null) await delay(2)
    service.kill('SIGKILL')
    await Promise.all([service.exited, writing])
    report(
      `round ${round + 1}: ${ledger.count} writes acknowledged, ready in ${Math.round(milliseconds)} ms, ${problems.length} problems`,
    )
  }
  return { problems, writes: ledger.count, slowest }
}
