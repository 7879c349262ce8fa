import { cpus, totalmem } from 'node:os'
import type { Seen } from './load.ts'
import type { Scenario } from './scenarios.ts'
import type { Running } from './servers.ts'

/** What was seen in one round, with what each request took of the processor, in microseconds. */
export interface Measured extends Seen {
  readonly cost: number
  /** In the sessions of the database; not a number if that is embedded, or on another machine. */
  readonly databaseCost: number
}

/** What was seen of each contender in each round of a scenario. */
type Measurements = ReadonlyMap<Running, readonly Measured[]>

/** The whole result as Markdown: what a request takes of this build, and the ratios of the others, with the noise. */
export function table(
  scenarios: ReadonlyMap<Scenario, Measurements>,
  running: readonly Running[],
  conditions: string,
  server: string,
): string {
  const [service, ...all] = running as [Running, ...Running[]]
  const again = all.find(({ name }) => name === 'again')
  const others = all.filter((one) => one !== again)
  const shown = [service, ...others]
  const titles = [
    'new',
    ...others.map(({ name, title }) => (name === 'against' ? 'new/old' : `${title}/new`)),
  ]
  const noiseIn = (seen: Measurements, figure: Figure) =>
    spread(ratios(again && seen.get(again), seen.get(service), figure))
  // In few rounds, a copy may differ little by chance: no noise counts as less than that of half of the scenarios.
  const usual = FIGURES.map((figure) => median([...scenarios.values()].map((seen) => noiseIn(seen, figure))))
  const lines = [...scenarios].map(([{ title }, seen]) => {
    const own = seen.get(service) as readonly Measured[]
    const noise = FIGURES.map((figure, index) => Math.max(noiseIn(seen, figure), usual[index] as number))
    const cells = others.map((one) => compared(seen.get(one), own, one.name === 'against', noise))
    return row(title, [absolute(own), ...cells])
  })
  return [
    `${conditions}. Node ${process.version}, ${server}, ${machine()}.`,
    '',
    'New: processor time of a request in the process + in the database; in brackets requests per second, and latency p50 /',
    'p99. Ratios: of processor time in the process, in the database, and of requests per second, medians of the rounds; ±',
    'the most that a second copy of this build differed in a round, at least as in half of the scenarios. Bold differs by more.',
    '',
    row('', titles),
    row(
      '---',
      titles.map(() => '--:'),
    ),
    ...lines,
    row(
      'ready after',
      shown.map(({ readyAfter }) => `${Math.round(readyAfter)} ms`),
    ),
    row(
      'resident at the end',
      shown.map((one) => `${Math.round(one.memoryMegabytes())} MB`),
    ),
    '',
  ].join('\n')
}

function absolute(seen: readonly Measured[]): string {
  const of = (select: (one: Measured) => number) => median(seen.map(select))
  const inDatabase = of(({ databaseCost }) => databaseCost)
  const cost = `${Math.round(of((one) => one.cost))} + ${Math.round(inDatabase)} µs`
  const rate = Math.round(of((one) => one.requestsPerSecond)).toLocaleString('en')
  const latency = `${of(({ p50 }) => p50).toFixed(1)} / ${of(({ p99 }) => p99).toFixed(1)} ms`
  return `${cost} (${rate}/s, ${latency})${failed(seen)}`
}

const FIGURES = ['cost', 'databaseCost', 'requestsPerSecond'] as const
type Figure = (typeof FIGURES)[number]

/** @param isOld whether it is what the service is divided by */
function compared(
  seen: readonly Measured[] | undefined,
  own: readonly Measured[],
  isOld: boolean,
  noise: readonly number[],
): string {
  if (!seen) return '—'
  const cells = FIGURES.map((figure, index) => {
    const ratio = median(isOld ? ratios(own, seen, figure) : ratios(seen, own, figure))
    const bar = noise[index] as number
    if (Number.isNaN(ratio)) return '—'
    const text = Math.abs(ratio - 1) > bar ? `**${ratio.toFixed(2)}**` : ratio.toFixed(2)
    return Number.isNaN(bar) ? text : `${text} ± ${bar.toFixed(2)}`
  })
  return `${cells.join(', ')}${failed(seen)}`
}

/** Round by round. */
function ratios(some: readonly Measured[] = [], others: readonly Measured[] = [], figure: Figure): number[] {
  return some.map((round, index) => round[figure] / (others[index] as Measured)[figure])
}

function spread(ratios: readonly number[]): number {
  return ratios.length === 0 ? Number.NaN : Math.max(...ratios.map((ratio) => Math.abs(ratio - 1)))
}

function failed(seen: readonly Measured[]): string {
  const failures = seen.reduce((sum, one) => sum + one.failures, 0)
  return failures ? ` ${failures} failed` : ''
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other)
  const middle = sorted.length >> 1
  return sorted.length % 2
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

function row(first: string, cells: readonly string[]): string {
  return `| ${[first, ...cells].join(' | ')} |`
}

function machine(): string {
  const processors = cpus()
  return `${processors.length} × ${processors[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB`
}
