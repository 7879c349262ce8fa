import type { Restriction } from './restrictions.ts'
import { DEFINITION } from './transaction.ts'

/* What Citus 13.2.2 on PostgreSQL 15.20 refused in a distributed schema, as far as the text of a statement shows it. */

const isSent = ({ inside }: { readonly inside: unknown }) => inside === undefined

export const CITUS_RESTRICTIONS: readonly Restriction[] = [
  {
    name: 'definition after another statement of one message',
    pattern: DEFINITION,
    concerns: (statement) => isSent(statement) && !statement.isFirst,
    example: ['SELECT; CREATE TABLE more (id text)'],
    nearMiss: ['BEGIN', 'SELECT', 'CREATE TABLE more (id text)', 'ROLLBACK'],
    source: 'cannot insert multiple commands into a prepared statement',
  },
  {
    name: 'volatile function in UPDATE or DELETE',
    pattern:
      /^(?:update|delete) .*\b(?:clock_timestamp|random|set_config|nextval|setval|server_identifier|server_timeline) \(/,
    example: [`UPDATE items SET note = clock_timestamp()`],
    nearMiss: [`UPDATE items SET note = now()`, 'SELECT clock_timestamp() FROM items'],
    source: 'functions used in UPDATE queries on distributed tables must not be VOLATILE',
  },
  {
    name: 'SET STORAGE',
    pattern: /\bset storage\b/,
    example: ['ALTER TABLE items ALTER COLUMN note SET STORAGE EXTERNAL'],
    nearMiss: [`ALTER TABLE items ALTER COLUMN note SET DEFAULT 'storage'`],
    source: 'alter table command is currently unsupported',
  },
  {
    name: 'SET SCHEMA',
    // Not executed in a schema that has its internal tables.
    concerns: isSent,
    pattern: /^alter table .* set schema\b/,
    example: ['ALTER TABLE items SET SCHEMA pg_temp'],
    nearMiss: ['SET search_path TO public'],
    source: 'cannot complete operation on a table with identity column',
  },
  {
    name: 'RENAME CONSTRAINT',
    pattern: /\brename constraint\b/,
    example: ['ALTER TABLE items RENAME CONSTRAINT items_pkey TO items_key'],
    nearMiss: ['ALTER INDEX items_pkey RENAME TO items_key'],
    source: 'renaming constraints belonging to distributed tables is currently unsupported',
  },
  {
    name: 'several constraints in one ALTER TABLE',
    pattern: /^alter table .*\badd constraint\b.*, add constraint\b/,
    example: [`ALTER TABLE items ADD CONSTRAINT a CHECK (id > ''), ADD CONSTRAINT b CHECK (id < 'z')`],
    nearMiss: [`ALTER TABLE items ADD CONSTRAINT a CHECK (id > '')`],
    source: 'cannot execute ADD CONSTRAINT command with other subcommands',
  },
  {
    name: 'INSERT from two tables without a condition',
    pattern: /^insert into .* from \w+(?: as \w+)? cross join (?!lateral)/,
    example: ['INSERT INTO items (id) SELECT one.id FROM items AS one CROSS JOIN items AS other'],
    nearMiss: ['INSERT INTO items (id) SELECT one.id FROM items AS one JOIN items AS other USING (id)'],
    source: 'cannot perform distributed planning on this query: Cartesian products are currently unsupported',
  },
  {
    name: 'catalog and table in one statement',
    pattern: /^select .* from pg_\w+ .* from (?:change_feed|items)\b/,
    concerns: isSent,
    example: ['SELECT relname FROM pg_class UNION ALL SELECT id FROM items'],
    nearMiss: ['SELECT relname FROM pg_class LIMIT 1', 'SELECT id FROM items'],
    source: 'a column definition list is required for functions returning "record"',
  },
]
