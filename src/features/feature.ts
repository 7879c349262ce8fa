import type { Database } from '../database/database.ts'
import type { Readers } from '../database/replicas/readers.ts'
import type { DocumentedFeature } from '../documents/openapi/document.ts'
import type { SchemaPart } from '../graph/schema/sdl.ts'
import type { Resource } from '../model/resource.ts'
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
}
