import { type ClientBase, escapeIdentifier, escapeLiteral } from 'pg'

/* Citus can keep a whole schema on one of its nodes, and move it to another (docs/ENGINES.md). */

export type Send = (text: string, values: readonly unknown[]) => Promise<readonly object[]>

/** Sends statements by a client of the driver. */
export function sendBy(client: ClientBase): Send {
  return async (text, values) => (await client.query(text, [...values])).rows
}

const SCHEMAS = 'pg_catalog.pg_dist_schema'

/** Whether the engine keeps a schema on one of its nodes. It then has the internal tables, too: joins do not cross schemas. */
export async function isDistributed(send: Send, schema: string): Promise<boolean> {
  if (!(await hasTable(send))) return false
  const text = `SELECT FROM ${SCHEMAS} WHERE schemaid = to_regnamespace(quote_ident($1))`
  return (await send(text, [schema])).length > 0
}

/** Creates a schema that the engine keeps on one of its nodes. Does nothing on a server without such an engine. */
export async function createDistributed(send: Send, schema: string): Promise<void> {
  if (!(await hasTable(send))) return
  await send('SET LOCAL citus.enable_schema_based_sharding TO on', [])
  await send(`CREATE SCHEMA IF NOT EXISTS ${escapeIdentifier(schema)}`, [])
}

/** Where the schemas are that the engine keeps on one of its nodes, by schema; without those on the node that is asked. */
export async function nodesOf(send: Send): Promise<ReadonlyMap<string, Pick<URL, 'hostname' | 'port'>>> {
  if (!(await hasTable(send))) return new Map()
  const rows = await send(
    `SELECT DISTINCT nspname AS schema, nodename AS hostname, nodeport::text AS port
     FROM ${SCHEMAS} JOIN pg_namespace ON pg_namespace.oid = schemaid JOIN pg_dist_partition USING (colocationid)
       JOIN pg_dist_shard USING (logicalrelid) JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid)
     WHERE noderole = 'primary' AND groupid <> (SELECT groupid FROM pg_dist_local_group)`,
    [],
  )
  return new Map(
    (rows as Record<'schema' | 'hostname' | 'port', string>[]).map(({ schema, ...node }) => [schema, node]),
  )
}

/**
 * Lets the engine move a schema to the node at an address. Requests are served meanwhile. Responds with false if the engine does
 * not keep the schema on a node.
 */
export async function moveSchema(send: Send, schema: string, { hostname, port }: URL): Promise<boolean> {
  if (!(await isDistributed(send, schema))) return false
  const name = escapeLiteral(escapeIdentifier(schema))
  await send(`SELECT citus_schema_move(${name}::regnamespace, $1, $2::int)`, [hostname, port || '5432'])
  return true
}

async function hasTable(send: Send): Promise<boolean> {
  return (await send('SELECT WHERE to_regclass($1) IS NOT NULL', [SCHEMAS])).length > 0
}
