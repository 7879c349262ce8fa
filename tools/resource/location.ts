import { fileURLToPath } from 'node:url'

/**
 * The first migration of every domain, with the tables and functions of the engine, those that a later version adds to it,
 * by name and in order, and its first Prisma schema.
 */
export const ENGINE = {
  migration: repositoryPath('prisma/engine/migration.sql'),
  additions: Object.fromEntries(
    [
      ...['recorded_changes', 'switch_update_triggers', 'begin_timeline', 'renew_unique_indexes'],
      ...['record_authors', 'record_states_before', 'row_triggers', 'refuse_record_change'],
      ...['forget_unseen_rows', 'plan_functions_once', 'tell_lives_apart', 'row_milestones'],
      'distributed_schemas',
    ].map((name) => [name, repositoryPath(`prisma/engine/${name}.sql`)]),
  ),
  schema: repositoryPath('prisma/engine/schema.prisma'),
}

/** The relative path is the same from src and from dist. */
export function repositoryPath(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url))
}
