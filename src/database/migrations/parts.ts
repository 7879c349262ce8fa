import { type Client, DatabaseError, type Pool } from 'pg'
import { type Connection, DatabaseRefusedError } from '../connection.ts'
import { DEFAULT_SCHEMA, internalSchema } from '../session.ts'
import { readBaseline, readMigrations } from './migration-files.ts'
import { internalOf, moveStatement } from './schemas.ts'
import { withSession } from './session.ts'

/** A part of a database that differs from what the migrations make. */
export interface WrongPart {
  /** As in `trigger species_after_update of species`. */
  readonly part: string
  readonly state: 'missing' | 'disabled' | 'invalid' | 'unlogged' | 'different'
  /** The statement that mends it. Undefined for what is in a table that exists. */
  readonly remedy: string | undefined
}

const LOCK_TIMEOUT = '3s'

/** Exists only within a transaction that is undone. A name of its own, so that processes do not wait for each other. */
const COPY = `halgraph_expected_${process.pid}`

/**
 * The parts of the schemas $1 and $2, each with the statements that create, remove and enable it, in the order in which they
 * can be created. Partial indexes that leave out equal texts stand for whole ones (renew_unique_indexes). What extensions make
 * is left out, and so is whether rows from before a CHECK were tested.
 */
const PARTS = `WITH relations AS (
    SELECT oid, relname, relkind, relpersistence, relnamespace::regnamespace || '.' || quote_ident(relname) AS name FROM pg_class
    WHERE relnamespace IN (to_regnamespace(quote_ident($1)), to_regnamespace(quote_ident($2))) AND NOT relispartition
  ), columns AS (
    SELECT attrelid, attnum, attname, concat(quote_ident(attname), ' ', format_type(atttypid, atttypmod),
        CASE WHEN attcollation <> typcollation THEN ' COLLATE ' || attcollation::regcollation END,
        CASE WHEN attnotnull THEN ' NOT NULL' END,
        CASE WHEN attidentity <> '' THEN ' GENERATED ALWAYS AS IDENTITY'
          WHEN attgenerated <> '' THEN format(' GENERATED ALWAYS AS (%s) STORED', pg_get_expr(adbin, adrelid))
          WHEN adbin IS NOT NULL THEN ' DEFAULT ' || pg_get_expr(adbin, adrelid) END) AS definition
    FROM pg_attribute JOIN relations ON attrelid = relations.oid JOIN pg_type ON pg_type.oid = atttypid
      LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attnum > 0 AND NOT attisdropped
  )
  SELECT 'table ' || relname AS part, '' AS definition,
      (SELECT format('CREATE TABLE %s (%s)', name, string_agg(definition, ', ' ORDER BY attnum)) FROM columns
        WHERE attrelid = oid) AS "create", NULL AS drop,
      CASE relpersistence WHEN 'u' THEN format('ALTER TABLE %s SET LOGGED', name) ELSE '' END AS enable
    FROM relations WHERE relkind IN ('r', 'p')
  UNION ALL
  SELECT format('column %s of %s', attname, relname), definition, '', NULL, ''
    FROM columns JOIN relations ON attrelid = oid WHERE relkind IN ('r', 'p')
  UNION ALL
  SELECT 'sequence ' || relname, format('%s %s %s %s', seqstart, seqincrement, seqmax, seqcycle),
      COALESCE((SELECT format('ALTER TABLE %s ALTER %I ADD GENERATED ALWAYS AS IDENTITY', refobjid::regclass, attname)
        FROM pg_depend JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid WHERE objid = oid AND deptype = 'i'),
        'CREATE SEQUENCE ' || name), NULL, ''
    FROM pg_sequence JOIN relations ON seqrelid = oid
  UNION ALL
  SELECT format('function %s(%s)', proname, pg_get_function_identity_arguments(pg_proc.oid)),
      pg_get_functiondef(pg_proc.oid), pg_get_functiondef(pg_proc.oid), '', ''
    FROM pg_proc WHERE prokind = 'f' AND pronamespace = to_regnamespace(quote_ident($1))
      AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = pg_proc.oid AND deptype = 'e')
  UNION ALL
  SELECT format('constraint %s of %s', conname, relname), definition,
      format('ALTER TABLE %s ADD CONSTRAINT %I %s', name, conname, definition),
      format('ALTER TABLE %s DROP CONSTRAINT %I', name, conname),
      COALESCE((SELECT string_agg(DISTINCT format('ALTER TABLE %s ENABLE TRIGGER ALL', tgrelid::regclass), '; ')
        FROM pg_trigger WHERE tgconstraint = pg_constraint.oid AND tgenabled IN ('D', 'R')), '')
    FROM pg_constraint JOIN relations ON conrelid = relations.oid,
      regexp_replace(pg_get_constraintdef(pg_constraint.oid), ' NOT VALID$', '') AS definition
    WHERE contype IN ('p', 'u', 'f', 'c', 'x')
  UNION ALL
  SELECT format('index %s of %s', named.relname, relations.relname), definition, definition,
      'DROP INDEX ' || indexrelid::regclass,
      CASE WHEN indisvalid THEN '' ELSE format('REINDEX INDEX %s', indexrelid::regclass) END
    FROM pg_index JOIN relations ON indrelid = relations.oid JOIN pg_class AS named ON named.oid = indexrelid,
      regexp_replace(pg_get_indexdef(indexrelid), CASE WHEN indisunique AND to_regclass(format('%s.%I',
        named.relnamespace::regnamespace, left(named.relname, 59) || '_all')) IS NOT NULL THEN ' WHERE .*' ELSE '^$' END, '')
      AS definition
    WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u', 'x'))
  UNION ALL
  SELECT format('trigger %s of %s', tgname, relname), pg_get_triggerdef(pg_trigger.oid), pg_get_triggerdef(pg_trigger.oid),
      format('DROP TRIGGER %I ON %s', tgname, name),
      CASE WHEN tgenabled IN ('D', 'R') THEN format('ALTER TABLE %s ENABLE TRIGGER %I', name, tgname) ELSE '' END
    FROM pg_trigger JOIN relations ON tgrelid = relations.oid WHERE NOT tgisinternal`

/** Of statements, `drop` is null if the part cannot be replaced, and `enable` is empty if it is in use. */
type Part = Readonly<Record<'part' | 'definition' | 'create' | 'enable', string>> & {
  readonly drop: string | null
}

/**
 * Compares a database with what the migrations make, which it makes beside the database, in a transaction that it undoes. What
 * only the database has is the user's own. In the order in which the parts can be mended.
 *
 * @throws DatabaseRefusedError if the role may not create schemas, or a table is locked
 */
export async function wrongParts(connection: Connection, folder: string): Promise<readonly WrongPart[]> {
  const { schema = DEFAULT_SCHEMA } = connection
  const compare = (client: Client) => makeCopy(client, folder).then(() => differences(client, schema))
  return withSession({ ...connection, schema: COPY }, (transact) => transact(compare, 'ROLLBACK'))
}

async function makeCopy(client: Client, folder: string): Promise<void> {
  // Definitions of a table that another session has locked are not readable.
  await client.query(`SET LOCAL lock_timeout TO '${LOCK_TIMEOUT}'`)
  const migrations = await readMigrations(folder)
  const baseline = await readBaseline(folder, migrations)
  const others = migrations.filter((migration) => !baseline?.covered.includes(migration))
  await client.query(`CREATE SCHEMA ${COPY}; CREATE SCHEMA ${internalSchema(COPY)}`)
  for (const { sql } of [...(baseline ? [baseline] : []), ...others]) {
    await client.query(sql)
    await client.query(moveStatement(COPY))
  }
}

async function differences(client: Client, schema: string): Promise<WrongPart[]> {
  const internal = await internalOf(client, schema)
  // So that definitions name each schema.
  await client.query(`SELECT set_config('search_path', '', TRUE)`)
  const { rows: names } = await client.query<Record<'copied' | 'actual', string>>(
    `SELECT quote_literal(copied) AS copied, quote_literal(actual) AS actual FROM unnest($1::text[], $2::text[]) AS name (copied, actual)
     UNION ALL SELECT copied, quote_ident(actual) FROM unnest($1::text[], $2::text[]) AS name (copied, actual)`,
    [
      [internalSchema(COPY), COPY],
      [internal, schema],
    ],
  )
  const actualName = (text: string) =>
    names.reduce((named, { copied, actual }) => named.replaceAll(copied, actual), text)
  const parts = async (of: string, internalTables: string) =>
    (await client.query<Part>(PARTS, [of, internalTables])).rows
  // Search paths name a schema for the internal tables also where they are in that of the resources.
  const inPlace = ({ definition, ...part }: Part) => {
    return { ...part, definition: definition.replaceAll(internalSchema(schema), internal) }
  }
  const actual = new Map((await parts(schema, internal)).map((part) => [part.part, inPlace(part)]))
  /** A table is made with its columns. */
  const hasTable = (part: string) =>
    !part.startsWith('column ') || actual.has(`table ${part.split(' of ').at(-1)}`)
  return (await parts(COPY, internalSchema(COPY))).flatMap(({ part, definition, create }): WrongPart[] => {
    const found = actual.get(part)
    const remedy = create === '' ? undefined : actualName(create)
    if (!found) return hasTable(part) ? [{ part, state: 'missing', remedy }] : []
    if (found.definition !== actualName(definition))
      return [
        { part, state: 'different', remedy: found.drop === null ? undefined : `${found.drop};${remedy}` },
      ]
    if (found.enable === '') return []
    const state = found.enable.startsWith('REINDEX') ? 'invalid' : 'disabled'
    return [{ part, state: part.startsWith('table ') ? 'unlogged' : state, remedy: found.enable }]
  })
}

/**
 * What a service must not serve without: with a trigger disabled, entity tags prevent no lost updates, and parents can be
 * deleted without their children.
 */
const DISABLED = `SELECT format('%s has disabled triggers (%s): ALTER TABLE %1$s ENABLE TRIGGER ALL', tgrelid::regclass,
    COALESCE(string_agg(tgname, ', ' ORDER BY tgname) FILTER (WHERE NOT tgisinternal), 'foreign keys')) AS problem
  FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
  WHERE tgenabled IN ('D', 'R')
    AND relnamespace IN (SELECT quote_ident(name)::regnamespace FROM unnest(current_schemas(FALSE)) AS name)
  GROUP BY tgrelid ORDER BY 1`

const FEED = `SELECT CASE WHEN last_position < (SELECT max(position) FROM recorded_changes)
    THEN 'change_feed would give positions again: npx halgraph restored' END AS problem FROM change_feed`

/** @throws DatabaseRefusedError if the rules of the database are not in force, or the feed would repeat itself */
export async function refuseDamaged(pool: Pool): Promise<void> {
  const { rows: disabled } = await pool.query<{ problem: string | null }>(DISABLED)
  const { rows: feed } = await pool.query<{ problem: string | null }>(FEED)
  const missing =
    feed.length === 0 ? [{ problem: 'change_feed has no row: npx halgraph doctor --repair' }] : []
  const problems = [...disabled, ...feed, ...missing].flatMap(({ problem }) => problem ?? [])
  if (problems.length === 0) return
  throw new DatabaseRefusedError(`The database is not as the migrations made it. ${problems.join('; ')}`)
}

/** PostgreSQL, appendix A: names of functions, tables and columns that are not there. */
const UNDEFINED = /^42(?:883|P01|703)$/

/** What a start reports of an error: a lack of parts is none of the program. */
export function lackOfParts(error: unknown): unknown {
  if (!(error instanceof DatabaseError && UNDEFINED.test(error.code ?? ''))) return error
  const message = `The database is not as the migrations made it: ${error.message}. \`npx halgraph doctor\` names what differs.`
  return new DatabaseRefusedError(message, { cause: error })
}
