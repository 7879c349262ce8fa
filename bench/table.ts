import { cpus, totalmem } from 'node:os'
import type { Seen } from './load.ts'
import { type Scenario, scenarios } from './scenarios.ts'
import type { Running } from './servers.ts'

/** What was seen in one round, with what each request took of the processor, in microseconds. */
export interface Measured extends Seen {
  readonly cost: number
  /** In the sessions of the database; not a number if that is embedded, or on another machine. */
  readonly databaseCost: number
}

/** What was seen of each contender in each round of each scenario. */
export type Rounds = ReadonlyMap<Scenario, ReadonlyMap<Running, readonly Measured[]>>

/** The whole result as Markdown: rates, the ratio to the service round by round, percentiles, memory. */
export function table(
  rounds: Rounds,
  running: readonly Running[],
  conditions: string,
  server: string,
): string {
  const service = running[0] as Running
  const titles = running.map(({ title }) => title)
  const lines = scenarios.flatMap((scenario) => {
    const seen = rounds.get(scenario)
    return seen
      ? [
          row(
            scenario.title,
            running.map((one) => cell(seen.get(one), seen.get(service), one === service)),
          ),
        ]
      : []
  })
  return [
    `${conditions}. Node ${process.version}, ${server}, ${machine()}.`,
    '',
    'Processor time of the server process and of the sessions of its database per request, in microseconds, and in bold',
    'how many times those of the service; in brackets requests per second, how many times as many the service answers,',
    'and latency p50 / p99 in milliseconds. Medians of the rounds, and of the ratios round by round.',
    '',
    row('', titles),
    row(
      '---',
      titles.map(() => '--:'),
    ),
    ...lines,
    row(
      'ready after',
      running.map(({ readyAfter }) => `${Math.round(readyAfter)} ms`),
    ),
    row(
      'resident at the end',
      running.map((one) => `${Math.round(one.memoryMegabytes())} MB`),
    ),
    '',
  ].join('\n')
}

function cell(
  seen: readonly Measured[] | undefined,
  service: readonly Measured[] | undefined,
  isService: boolean,
): string {
  if (!seen || !service) return '—'
  const of = (select: (one: Measured) => number) => median(seen.map(select))
  const failures = seen.reduce((sum, one) => sum + one.failures, 0)
  const ratio = (select: (service: Measured, one: Measured) => number) =>
    median(seen.map((one, index) => select(service[index] as Measured, one))).toFixed(2)
  const cost = (select: (one: Measured) => number) => {
    const times = isService ? '' : ` **${ratio((own, one) => select(one) / select(own))}**`
    return `${Math.round(of(select))} µs${times}`
  }
  const inDatabase = of(({ databaseCost }) => databaseCost)
  const costs = [
    cost((one) => one.cost),
    ...(Number.isNaN(inDatabase) ? [] : [cost((one) => one.databaseCost)]),
  ].join(' + ')
  const rates = isService ? '' : ` × ${ratio((own, one) => own.requestsPerSecond / one.requestsPerSecond)}`
  const rate = Math.round(of((one) => one.requestsPerSecond)).toLocaleString('en')
  const latency = `${of(({ p50 }) => p50).toFixed(1)} / ${of(({ p99 }) => p99).toFixed(1)}`
  const failed = failures ? ` ${failures} failed` : ''
  return `${costs} (${rate}/s${rates}, ${latency})${failed}`
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
