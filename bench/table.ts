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

/** What was seen of each contender in each round of each scenario. */
export type Rounds = ReadonlyMap<Scenario, ReadonlyMap<Running, readonly Measured[]>>

/** The whole result as Markdown: what a request takes of this build, and the ratios of the others, with the noise. */
export function table(
  rounds: Rounds,
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
  const lines = [...rounds].map(([{ title }, seen]) => {
    const own = seen.get(service) as readonly Measured[]
    const noise = again && seen.get(again)
    const cells = others.map((one) => ratios(seen.get(one), own, noise, one.name === 'against'))
    return row(title, [absolute(own), ...cells])
  })
  return [
    `${conditions}. Node ${process.version}, ${server}, ${machine()}.`,
    '',
    'New: processor time of a request in the process + in the database; in brackets requests per second, and latency p50 /',
    'p99. Ratios: of processor time in the process, in the database, and of requests per second, medians of the rounds; ±',
    'the most that a second copy of this build differed in a round. Bold is what differs by more than that.',
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

/** @param isOld whether it is what the service is divided by */
function ratios(
  seen: readonly Measured[] | undefined,
  own: readonly Measured[],
  again: readonly Measured[] | undefined,
  isOld: boolean,
): string {
  if (!seen) return '—'
  const figures = FIGURES.map((figure) => {
    const each = (one: readonly Measured[]) =>
      one.map((round, index) => round[figure] / (own[index] as Measured)[figure])
    const value = median(each(seen).map((ratio) => (isOld ? 1 / ratio : ratio)))
    if (Number.isNaN(value)) return '—'
    if (!again) return value.toFixed(2)
    const noise = Math.max(...each(again).map((ratio) => Math.abs(ratio - 1)))
    const text = Math.abs(value - 1) > noise ? `**${value.toFixed(2)}**` : value.toFixed(2)
    return `${text} ± ${noise.toFixed(2)}`
  })
  return `${figures.join(', ')}${failed(seen)}`
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
