import { Counter, type Registry } from 'prom-client'
import { counter, gauge, named } from './metric-types.ts'

export interface LoadMeasured {
  readonly operations: () => { readonly running: number; readonly waiting: number }
  /** The number of refused requests, by reason. */
  readonly shed: Readonly<Record<string, number>>
  /** The number of connections that were closed at once because there were too many. */
  readonly refusedConnections: () => number
}

export function addLoadMetrics(registry: Registry, measured: LoadMeasured): void {
  gauge(registry, 'operations', 'GraphQL operations that run, and that wait for their turn.', () => ({
    ...measured.operations(),
  }))
  counter(registry, 'requests_shed_total', 'Requests that received 503 to keep the load within limits.', {
    label: 'reason',
    read: () => measured.shed,
  })
  new Counter({
    name: named('connections_refused_total'),
    help: 'Connections that were closed at once because there were as many as the process accepts.',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(measured.refusedConnections())
    },
  })
}
