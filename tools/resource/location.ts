import { fileURLToPath } from 'node:url'

/**
 * The first migration of every domain, with the tables and functions of the engine, those that a later version adds to it,
 * by name and in order, and its first Prisma schema.
 */
export const ENGINE = {
  migration: repositoryPath('prisma/engine/migration.sql'),
  additions: {
    recorded_changes: repositoryPath('prisma/engine/recorded_changes.sql'),
    switch_update_triggers: repositoryPath('prisma/engine/switch_update_triggers.sql'),
    begin_timeline: repositoryPath('prisma/engine/begin_timeline.sql'),
    renew_unique_indexes: repositoryPath('prisma/engine/renew_unique_indexes.sql'),
    record_authors: repositoryPath('prisma/engine/record_authors.sql'),
    record_states_before: repositoryPath('prisma/engine/record_states_before.sql'),
    row_triggers: repositoryPath('prisma/engine/row_triggers.sql'),
    refuse_record_change: repositoryPath('prisma/engine/refuse_record_change.sql'),
    forget_unseen_rows: repositoryPath('prisma/engine/forget_unseen_rows.sql'),
    plan_functions_once: repositoryPath('prisma/engine/plan_functions_once.sql'),
    tell_lives_apart: repositoryPath('prisma/engine/tell_lives_apart.sql'),
  },
  schema: repositoryPath('prisma/engine/schema.prisma'),
}

/** The relative path is the same from src and from dist. */
export function repositoryPath(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url))
}
