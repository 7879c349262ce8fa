import type { PrismaClient } from './generated/client.ts'

/** What a domain brings into its database. */
export interface Tables {
  /** Prisma's client, generated for the models of the domain. */
  readonly PrismaClient: PrismaClientClass
  /** The folder of the migrations. */
  readonly migrations: string
}

/**
 * The class of a generated client. Its type is that of the built-in domain; {@link Client} leaves of it what every
 * domain has.
 */
export type PrismaClientClass = typeof PrismaClient
