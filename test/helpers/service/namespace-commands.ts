import type { Owner } from '../database/database.ts'
import { createSpacesOn, type ManyNames } from '../database/postgres-server.ts'
import { environmentFor, runCommand } from './commands.ts'
import { query } from './namespaces.ts'

/** A migrated database with these namespaces, and the function that runs `halgraph namespace`. */
export async function prepareCommands(owner: Owner, server: string, names: ManyNames) {
  const databaseUrl = await createSpacesOn(server, owner, names)
  const environment = environmentFor({ databaseUrl, dataDir: '' })
  return {
    databaseUrl,
    environment,
    run: (...parameters: string[]) => runCommand('namespace', environment, ...parameters),
    /** The schemas that a namespace has. */
    async schemasOf(name: string): Promise<string[]> {
      const text = `SELECT nspname AS name FROM pg_namespace WHERE nspname LIKE $1 ORDER BY 1`
      const rows = await query(databaseUrl, (send) => send(text, [`namespace_${name.replace('-', '_')}%`]))
      return (rows as { name: string }[]).map(({ name }) => name)
    },
  }
}
