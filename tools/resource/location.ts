import { fileURLToPath } from 'node:url'

/** The first migration of every domain, with the tables and functions of the engine, and its first Prisma schema. */
export const ENGINE = {
  migration: repositoryPath('prisma/engine/migration.sql'),
  schema: repositoryPath('prisma/engine/schema.prisma'),
}

/** The relative path is the same from src and from dist. */
export function repositoryPath(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url))
}
