import type { GraphQLSchema } from 'graphql'
import type { Database } from '../database/database.ts'
import type { Readers } from '../database/replicas/readers.ts'
import type { DocumentedFeature } from '../documents/openapi/document.ts'
import type { AroundOperation } from '../graph/execution/run-operation.ts'
import type { DocumentGuard } from '../graph/http/document-checks.ts'
import type { SchemaPart } from '../graph/schema/sdl.ts'
import type { Middleware } from '../http/context.ts'
import type { Access } from '../model/access/access.ts'
import type { Caller } from '../model/access/caller.ts'
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
   * Begins what runs in the background, before the first request. May run again after a failure.
   *
   * @returns what ends it
   */
  start?(core: Core): Promise<() => void>
  /** Called after each write of this process, even one that failed: the database may have executed it. */
  written?(): void
}

/** Makes a feature for the resources of a domain. It must not need a database before it starts. */
export type CreateFeature = (resources: readonly Resource[]) => Feature

/** What a feature can use once the database is open. */
export interface Core {
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
  readonly database: Database
}

/** Limits what runs at once. Called once the database is open, before the application is made. */
export type CreateLimits = (parts: LimitParts) => Limits

/** Without them, everything runs at once. */
export interface Limits {
  readonly around?: AroundOperation
  readonly guard?: DocumentGuard
  readonly changesPerPage?: number
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
