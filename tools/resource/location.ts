import { fileURLToPath } from 'node:url'

/** The tables and functions that every domain needs, as its first migration, and its first Prisma schema. */
export const ENGINE = {
  migration: repositoryPath('prisma/engine/migration.sql'),
  schema: repositoryPath('prisma/engine/schema.prisma'),
}

/** A path of the project. The relative path is the same from src and from dist. */
export function repositoryPath(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url))
}
