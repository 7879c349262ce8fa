import { administer } from './database.ts'

/**
 * What Citus says about the schemas that it keeps on one node, on a server without it: the columns of its catalog that the
 * service reads, CREATE SCHEMA with its setting, and its move.
 */
const CATALOG = `SET allow_system_table_mods TO on;
CREATE TABLE pg_catalog.pg_dist_schema (schemaid oid, colocationid oid);
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid oid, colocationid oid);
CREATE TABLE pg_catalog.pg_dist_shard (logicalrelid oid, shardid oid);
CREATE TABLE pg_catalog.pg_dist_placement (shardid oid, groupid int);
CREATE TABLE pg_catalog.pg_dist_node (groupid int, nodename text, nodeport int, noderole text);
CREATE TABLE pg_catalog.pg_dist_local_group (groupid int);
INSERT INTO pg_dist_local_group VALUES (0);
CREATE FUNCTION public.distribute() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE
  made oid;
BEGIN
  FOR made IN SELECT objid FROM pg_event_trigger_ddl_commands() LOOP
    IF current_setting('citus.enable_schema_based_sharding', TRUE) = 'on' THEN
      INSERT INTO pg_catalog.pg_dist_schema VALUES (made, made);
      INSERT INTO pg_catalog.pg_dist_partition VALUES (made, made);
      INSERT INTO pg_catalog.pg_dist_shard VALUES (made, made);
      INSERT INTO pg_catalog.pg_dist_placement VALUES (made, 1);
    END IF;
  END LOOP;
END $$;
CREATE EVENT TRIGGER distribute ON ddl_command_end WHEN TAG IN ('CREATE SCHEMA') EXECUTE FUNCTION public.distribute();
CREATE FUNCTION pg_catalog.citus_schema_move(moved regnamespace, host text, port int) RETURNS void LANGUAGE sql AS $$
  UPDATE pg_catalog.pg_dist_placement SET groupid = (SELECT groupid FROM pg_catalog.pg_dist_node WHERE (nodename, nodeport) = (host, port))
    WHERE shardid = moved $$`

/** @param nodes their addresses. A namespace is on the first of them when it is created. */
export async function imitateCitus(database: string, nodes: readonly string[]): Promise<void> {
  await administer(database, async (client) => {
    await client.query(CATALOG)
    for (const [index, address] of nodes.entries()) {
      const { hostname, port } = new URL(address)
      await client.query("INSERT INTO pg_dist_node VALUES ($1, $2, $3, 'primary')", [
        index + 1,
        hostname,
        port,
      ])
    }
  })
}
