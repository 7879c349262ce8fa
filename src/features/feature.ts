import type { GraphQLSchema } from 'graphql'
import type { Database } from '../database/database.ts'
import type { Readers } from '../database/replicas/readers.ts'
import type { DocumentedFeature } from '../documents/openapi/document.ts'
import type { AroundOperation } from '../graph/execution/run-operation.ts'
import type { DocumentGuard } from '../graph/http/document-checks.ts'
import type { SchemaPart } from '../graph/schema/sdl.ts'
import type { Middleware } from '../http/context.ts'
import type { Access } from '../model/access/access.ts'
import type { Caller, Namespace } from '../model/access/caller.ts'
import type { Resource } from '../model/definition/resource.ts'
import type { HeaderLink } from '../rest/operation.ts'

/**
 * What a feature adds to the core, which keeps the specification by itself. A feature imports the core; neither the core
 * nor another feature imports it.
 */
export interface Feature extends DocumentedFeature {
  readonly schema?: readonly SchemaPart[]
  /** In the headers of REST. */
  readonly links?: readonly HeaderLink[]
  /**
   * Begins what runs in the background for a database, before its first request. May run again after a failure.
   *
   * @returns what ends it
   */
  start?(core: Core): Promise<() => void>
  /** Called after each write of this process, even one that failed: the database may have executed it. */
  written?(caller: Caller): void
}

/** Makes a feature for the resources of a domain. It must not need a database before it starts. */
export type CreateFeature = (resources: readonly Resource[]) => Feature

/** What a feature can use once a database is open. */
export interface Core {
  /** That of the callers whose rows the database has. */
  readonly namespace: Namespace
  readonly database: Database
  readonly readers: Readers | undefined
  /** How long changes are recorded; 0 for no record. */
  readonly changesDays: number
  /** How far replicas may lag, in milliseconds. */
  readonly replicaLag: number
  /** The most changes that a stream keeps in memory. */
  readonly changesPerPage: number
  /** What a caller may do with the rows of each resource, during one operation. */
  accessOf(caller: Caller): Access
}

export interface LimitParts {
  readonly settings: {
    readonly loadCapacity: number
    readonly callerShare: number
    /** In milliseconds. */
    readonly databaseTimeout: number
    readonly rateLimit: number
    readonly graphqlMaxDepth: number
    readonly graphqlMaxCost: number
  }
  readonly schema: GraphQLSchema
  readonly resources: readonly Resource[]
}

/** Limits what runs at once. */
export type CreateLimits = (parts: LimitParts) => Limits

/** Without them, everything runs at once. */
export interface Limits {
  /** Called for each database once it is open, before its first operation. A stream keeps so many changes in memory. */
  open?(core: Pick<Core, 'namespace' | 'database'>): {
    readonly changesPerPage: number
    readonly close: () => void
  }
  readonly around?: AroundOperation
  readonly guard?: DocumentGuard
  /** Runs before everything else. */
  readonly outermost?: readonly Middleware[]
  /** Runs after authentication. */
  readonly middleware?: readonly Middleware[]
  readonly load?: LoadCounts
}

/** What the metrics show. */
export interface LoadCounts {
  readonly running: number
  readonly waiting: number
  /** Refused requests by reason. */
  readonly shed: Readonly<Record<string, number>>
}
