import type { Database } from '../../database/database.ts'
import { type Namespace, namespaceOf, ONLY_NAMESPACE } from '../../model/access/caller.ts'
import type { CreateLimits } from '../feature.ts'
import { CostEstimator, changesPerPage } from './cost.ts'
import { createDocumentGuard, type LoadOf, type NamespaceLoad } from './document-guard.ts'
import { FairQueue } from './fair-queue.ts'
import { OperationQueue } from './operation-queue.ts'
import { limitRate } from './rate.ts'
import { admitRequests, createTurns } from './requests.ts'
import { tableSizes } from './table-sizes.ts'
import { Units } from './units.ts'

/** What a single caller leaves for the first requests of the next one. */
const PART_FOR_OTHERS = 0.5
const CONNECTIONS_FOR_OTHERS = 2

/** What one namespace may use beside others. */
const PART_OF_NAMESPACE = 0.5

/**
 * Load: limits what the service does at once, for all callers and for each, so that no caller delays the others much.
 * LOAD_CAPACITY, CALLER_SHARE, DATABASE_TIMEOUT, RATE_LIMIT, GRAPHQL_MAX_DEPTH and GRAPHQL_MAX_COST are its settings.
 *
 * Operations wait in one queue for each namespace ({@link FairQueue}) for the units that they declare, and the namespaces
 * share the capacity in the same way. Adds middleware, what runs around each operation, limits of documents of /graphql,
 * and the size of the pages of streams.
 */
export const limitLoad: CreateLimits = ({ settings, schema, resources }) => {
  const { loadCapacity: capacity, callerShare, rateLimit, databaseTimeout: deadline } = settings
  const share = Math.min(callerShare, capacity)
  const shareAlone = Math.max(share, Math.floor(capacity * PART_FOR_OTHERS))
  const ofNamespace = Math.ceil(capacity * PART_OF_NAMESPACE)
  const namespaces = new FairQueue({ capacity, share: ofNamespace, shareAlone: capacity })
  const loads = new WeakMap<Namespace, NamespaceLoad>()
  const loadOf: LoadOf = (caller) => loads.get(namespaceOf(caller)) as NamespaceLoad
  const open = new Set<OperationQueue>()
  const sum = (count: 'running' | 'waiting') => [...open].reduce((all, queue) => all + queue[count], 0)
  const load = {
    get running() {
      return sum('running')
    },
    get waiting() {
      return sum('waiting')
    },
    shed: { capacity: 0, caller_share: 0, deadline: 0 },
  }
  const turns = createTurns()
  return {
    open({ namespace, database }) {
      const sizes = tableSizes(database.client, resources)
      const costs = new CostEstimator(schema, resources, sizes)
      const units = new Units(costs)
      const isAlone = (caller: string) => queue.queue.isAlone(caller)
      const queue: OperationQueue = new OperationQueue(
        { capacity, share, shareAlone, deadline },
        { units, sizes, ...connectionsOf(database, isAlone) },
        load.shed,
        namespace === ONLY_NAMESPACE ? undefined : (...use) => namespaces.enter(namespace.name, ...use),
      )
      loads.set(namespace, { queue, costs, units })
      open.add(queue)
      return { changesPerPage: changesPerPage(costs.change), close: () => open.delete(queue) }
    },
    load,
    around: (operation, caller, work) => loadOf(caller).queue.around(operation, caller, work),
    outermost: [turns.take],
    middleware: [turns.remember, ...(rateLimit > 0 ? [limitRate(rateLimit)] : []), admitRequests(loadOf)],
    guard: createDocumentGuard(loadOf, { depth: settings.graphqlMaxDepth, cost: settings.graphqlMaxCost }),
  }
}

/** The part of the connections that may write at the same time. */
const WRITE_PART = 0.5

/**
 * Statements wait for connections in queues of their own, because units say nothing of how long one lasts. The lists of one
 * caller use one connection beside others, and so one core of the database. Alone, they leave connections to the next
 * caller, even while a table is locked. Operations that share an equal read wait for one connection only. A commit that
 * waits for a synchronous standby waits for any time, so writes get half of the connections, and the other half reads
 * meanwhile.
 *
 * @param isAlone whether no other caller is active, including those that read no lists
 */
function connectionsOf({ pool }: Database, isAlone: (caller: string) => boolean) {
  const { max: connections } = pool.options
  const shareAlone = Math.max(connections - CONNECTIONS_FOR_OTHERS, 1)
  const writing = Math.ceil(connections * WRITE_PART)
  const writes = new FairQueue({ capacity: writing, share: writing })
  pool.abandoned.hold = () => {
    const session = writes.hold('', 1)
    return () => session.end()
  }
  return {
    lists: new FairQueue({ capacity: connections, share: 1, shareAlone, isAlone }),
    writes,
    isStalled: () => pool.abandoned.count >= writing,
  }
}
