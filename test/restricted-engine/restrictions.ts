import type { Statement } from './statements.ts'
import { DEFINITION, type OpenTransaction, SAVEPOINT } from './transaction.ts'

/** A feature that an engine lacks. */
export interface Restriction {
  /** As in "… not supported yet", the error of the engine. */
  readonly name: string
  /** Matches the words of a statement that uses it. */
  readonly pattern: RegExp
  /** Which statements it concerns: by default all, also those in bodies of functions. */
  readonly concerns?: (statement: Statement, transaction: OpenTransaction) => boolean
  /** The last of these statements uses it. */
  readonly example: readonly string[]
  /** None of these uses it. */
  readonly nearMiss: readonly string[]
  /** Page of the documentation, read in the version of November 2026 unless it says otherwise. */
  readonly source: string
}

const COMPATIBILITY = 'https://docs.yugabyte.com/stable/reference/configuration/postgresql-compatibility/'
const MIGRATION_ISSUES = 'https://docs.yugabyte.com/stable/yugabyte-voyager/known-issues/postgresql/'

/** The engine refuses the call, not the definition of a function that contains it. */
const isCalled = ({ inside }: Statement) => inside === undefined || inside === 'DO'

/** The statement itself, in a transaction that BEGIN has opened. */
const isInTransaction = ({ inside }: Statement, { isOpen }: OpenTransaction) => inside === undefined && isOpen

/** What the documentation of YugabyteDB v2025.2 names as missing, as far as the text of a statement shows it. */
export const RESTRICTIONS: readonly Restriction[] = [
  {
    name: 'REFERENCING clause (transition tables)',
    pattern: /\breferencing (?:old|new) table\b/,
    example: [
      'CREATE TRIGGER t AFTER DELETE ON items REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION f()',
    ],
    nearMiss: ['CREATE TRIGGER after_delete AFTER DELETE ON items FOR EACH STATEMENT EXECUTE FUNCTION f()'],
    source: COMPATIBILITY,
  },
  {
    name: 'LOCK TABLE above ACCESS SHARE',
    pattern: /(?:^|\b(?:begin|then|else|loop) )lock (?!.* in access share mode)/,
    example: ['BEGIN', 'LOCK TABLE items IN SHARE ROW EXCLUSIVE MODE'],
    nearMiss: ['BEGIN', 'LOCK TABLE items IN ACCESS SHARE MODE', 'SELECT FROM items FOR UPDATE', 'ROLLBACK'],
    source: 'https://docs.yugabyte.com/stable/api/ysql/the-sql-language/statements/txn_lock/',
  },
  {
    name: 'system column',
    pattern: /(?<![\w"])"?(?:ctid|xmin|xmax|cmin|cmax)"?(?![\w"(])(?! \()/,
    example: ['SELECT ctid FROM items'],
    nearMiss: [`SELECT 'ctid' AS text, id AS ctids FROM items -- not by ctid`],
    source: MIGRATION_ISSUES,
  },
  {
    // Switched on with a flag from v2025.2.3. Without it, an engine ignores the statement, so that a caller would wait.
    name: 'LISTEN and NOTIFY',
    pattern: /(?:^|\b(?:begin|then|else|loop) )(?:listen|unlisten|notify) |\bpg_notify \(/,
    example: ['LISTEN writes'],
    nearMiss: [`SELECT 'LISTEN writes; NOTIFY writes' AS listen`],
    source: 'https://docs.yugabyte.com/stable/api/ysql/the-sql-language/statements/cmd_listen_notify/',
  },
  {
    name: 'DEFERRABLE unique constraint',
    pattern: /\b(?:unique|primary key)(?: \( [^()]* \))?(?: using index \S+)? deferrable\b/,
    example: ['CREATE TABLE more (id text, UNIQUE (id) DEFERRABLE INITIALLY DEFERRED)'],
    nearMiss: [
      'CREATE TABLE more (id text UNIQUE NOT DEFERRABLE REFERENCES items DEFERRABLE INITIALLY DEFERRED)',
      'DROP TABLE more',
    ],
    source: MIGRATION_ISSUES,
  },
  {
    name: 'CREATE CONSTRAINT TRIGGER',
    pattern: /\bcreate constraint trigger\b/,
    example: ['CREATE CONSTRAINT TRIGGER t AFTER INSERT ON items FOR EACH ROW EXECUTE FUNCTION f()'],
    nearMiss: ['CREATE TRIGGER after_insert AFTER INSERT ON items FOR EACH ROW EXECUTE FUNCTION f()'],
    source: COMPATIBILITY,
  },
  {
    name: 'EXCLUDE constraint',
    pattern: /\bexclude (?:using \w+ )?\(/,
    example: ['CREATE TABLE more (id text, EXCLUDE (id WITH =))'],
    nearMiss: ['SELECT count(*) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING EXCLUDE TIES) FROM items'],
    source: MIGRATION_ISSUES,
  },
  {
    name: 'storage parameter of an index or a constraint',
    pattern: /\bcreate (?:unique )?index [^;]*\) with \(|\b(?:unique|primary key)(?: \( [^()]* \))? with \(/,
    example: ['CREATE INDEX ON items (id) WITH (fillfactor = 70)'],
    nearMiss: [
      'CREATE TABLE more (id text PRIMARY KEY) WITH (fillfactor = 70)',
      'CREATE INDEX ON more (id)',
      'DROP TABLE more',
    ],
    source: MIGRATION_ISSUES,
  },
  {
    name: 'index method GiST, SP-GiST or BRIN',
    pattern: /\busing (?:gist|spgist|brin) \(/,
    example: ['CREATE INDEX ON items USING brin (id)'],
    nearMiss: ['CREATE INDEX ON items USING btree (id)'],
    source: MIGRATION_ISSUES,
  },
  {
    name: 'multicolumn GIN index',
    pattern: /\busing gin \( [^()]*,/,
    example: ['CREATE INDEX ON items USING gin (names, places)'],
    nearMiss: ['CREATE INDEX ON items USING gin (names)'],
    source: MIGRATION_ISSUES,
  },
  {
    name: 'ALTER TABLE ALTER COLUMN SET of an attribute',
    pattern: /\balter (?:column )?(?!table\b)\S+ (?:re)?set \(/,
    example: ['ALTER TABLE items ALTER COLUMN id SET (n_distinct = 0.1)'],
    nearMiss: [`ALTER TABLE items ALTER COLUMN note SET DEFAULT ('none')`],
    source: MIGRATION_ISSUES,
  },
  {
    name: 'transaction ids (xid)',
    pattern: /\b(?:txid_\w+|pg_current_xact_id\w*|pg_current_snapshot) \(|:: ?xid8?\b/,
    concerns: isCalled,
    example: ['SELECT txid_current()'],
    nearMiss: ['SELECT id AS txid_current FROM items'],
    source: MIGRATION_ISSUES,
  },
  {
    name: 'position in the WAL',
    pattern: /\b(?:pg_current_wal_\w+|pg_last_wal_\w+|pg_walfile_\w+) \(/,
    concerns: isCalled,
    example: ['SELECT pg_current_wal_lsn()'],
    nearMiss: [
      `CREATE OR REPLACE FUNCTION wal_position() RETURNS text LANGUAGE plpgsql AS $$
        BEGIN RETURN pg_current_wal_lsn(); EXCEPTION WHEN OTHERS THEN RETURN NULL; END $$`,
    ],
    source: 'https://github.com/yugabyte/yugabyte-db/issues/30378',
  },
  {
    name: '%TYPE in a routine',
    pattern: /% (?:row)?type\b/,
    concerns: ({ inside }) => inside !== undefined,
    example: [
      'CREATE FUNCTION g() RETURNS void LANGUAGE plpgsql AS $$ DECLARE one items.id%TYPE; BEGIN END $$',
    ],
    nearMiss: [
      'CREATE OR REPLACE FUNCTION g() RETURNS void LANGUAGE plpgsql AS $$ DECLARE one text; BEGIN END $$',
    ],
    source: MIGRATION_ISSUES,
  },
  {
    name: 'VIEW WITH CHECK OPTION',
    pattern: /\bcreate .*\bview\b.* with (?:cascaded |local )?check option\b/,
    example: [`CREATE VIEW chosen AS SELECT id FROM items WHERE id > 'a' WITH CHECK OPTION`],
    nearMiss: [`CREATE OR REPLACE VIEW chosen AS SELECT id FROM items WHERE id > 'a'`],
    source: MIGRATION_ISSUES,
  },
  {
    name: 'PREPARE TRANSACTION',
    pattern: /^(?:prepare transaction|(?:commit|rollback) prepared)\b/,
    example: ['BEGIN', `PREPARE TRANSACTION 'one'`],
    nearMiss: ['PREPARE transactions AS SELECT 1'],
    source: MIGRATION_ISSUES,
  },
  {
    name: 'large object',
    pattern: /\blo_(?:create|creat|import|export|open|unlink|from_bytea|get|put) \(/,
    example: ['SELECT lo_create(0)'],
    nearMiss: ['SELECT id AS lo_create FROM items'],
    source: MIGRATION_ISSUES,
  },
  {
    name: 'ALTER TABLE in a trigger',
    pattern: /\balter table\b/,
    concerns: ({ inside }) => inside === 'trigger function',
    example: [
      `CREATE FUNCTION h() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        EXECUTE format('ALTER TABLE %I DISABLE TRIGGER ALL', 'items'); RETURN NULL; END $$`,
    ],
    nearMiss: [
      `CREATE OR REPLACE FUNCTION h() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
        EXECUTE format('ALTER TABLE %I DISABLE TRIGGER ALL', 'items'); END $$`,
    ],
    source: MIGRATION_ISSUES,
  },
  {
    // The engine commits each such statement by itself, so what relies on its rollback would be wrong. A flag changes that.
    name: 'DDL in a transaction block',
    pattern: DEFINITION,
    concerns: isInTransaction,
    example: ['BEGIN', 'CREATE TABLE more (id text)'],
    nearMiss: [
      'BEGIN',
      'CREATE TEMP TABLE more (id text)',
      'ROLLBACK',
      'CREATE TABLE more (id text)',
      'DROP TABLE more',
    ],
    source: 'https://docs.yugabyte.com/stable/architecture/transactions/transactional-ddl/',
  },
  {
    // With that flag, too.
    name: 'savepoint in a transaction with DDL',
    pattern: new RegExp(`${DEFINITION.source}|${SAVEPOINT.source}`),
    concerns: (statement, transaction) =>
      isInTransaction(statement, transaction) &&
      (SAVEPOINT.test(statement.words) ? transaction.hasDefinition : transaction.hasSavepoint),
    example: ['BEGIN', 'SAVEPOINT one', 'CREATE TABLE more (id text)'],
    nearMiss: ['BEGIN', 'SAVEPOINT one', 'CREATE TEMP TABLE more (id text)', 'ROLLBACK'],
    source: 'https://docs.yugabyte.com/stable/architecture/transactions/transactional-ddl/',
  },
]

/** What the migrator does not follow: each migration is one transaction. With a flag, the engine undoes it as a whole, too. */
export const TRANSACTIONS_WITH_DDL = ['DDL in a transaction block']

/** The first feature that a statement uses and the engine lacks. */
export function restrictionOf(
  restrictions: readonly Restriction[],
  statement: Statement,
  transaction: OpenTransaction,
): Restriction | undefined {
  return restrictions.find(
    ({ pattern, concerns }) => pattern.test(statement.words) && concerns?.(statement, transaction) !== false,
  )
}
