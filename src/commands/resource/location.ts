import { fileURLToPath } from 'node:url'

/** Where the parts of a domain are, as paths. */
export interface DomainLocation {
  /** The folder of the definitions, with the list `index.ts`. */
  readonly definitions: string
  /** The Prisma schema. */
  readonly schema: string
  /** The folder of the migrations. */
  readonly migrations: string
}

/** A path of the repository. The relative path is the same from src and from dist. */
export function repositoryPath(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url))
}

/** The domain that is compiled in. */
export const BUILT_IN: DomainLocation = {
  definitions: repositoryPath('src/domain/resources'),
  schema: repositoryPath('prisma/schema.prisma'),
  migrations: repositoryPath('prisma/migrations'),
}

/** The tables and functions that every domain needs, as its first migration, and their Prisma models. */
export const ENGINE = {
  migration: repositoryPath('prisma/engine/migration.sql'),
  models: repositoryPath('prisma/engine/models.prisma'),
}
