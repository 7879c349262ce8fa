import { Counter, Gauge, type Registry } from 'prom-client'
import { SERVICE_NAME } from '../../observability/service-name.ts'

export function named(metric: string): string {
  return `${SERVICE_NAME}_${metric}`
}

/** Adds a gauge whose values, by state, are read on each scrape. */
export function gauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => Readonly<Record<string, number>>,
): void {
  new Gauge({
    name: named(name),
    help,
    labelNames: ['state'],
    registers: [registry],
    collect() {
      for (const [state, value] of Object.entries(read())) this.set({ state }, value)
    },
  })
}

/** Adds a counter whose values, by label, are counted elsewhere and read on each scrape. */
export function counter(
  registry: Registry,
  name: string,
  help: string,
  { label, read }: { readonly label: string; readonly read: () => Readonly<Record<string, number>> },
): void {
  new Counter({
    name: named(name),
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      this.reset()
      for (const [value, count] of Object.entries(read())) this.inc({ [label]: value }, count)
    },
  })
}
