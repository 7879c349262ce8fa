import test from 'ava'
import { statementsOf } from './statements.ts'

const words = (sql: string) => statementsOf(sql).map(({ words }) => words)

test('comments and constants say nothing, and blanks do not matter', (t) => {
  t.deepEqual(words(`SELECT  'LOCK; it''s', E'a\\'b', "Lock"; -- LOCK\n /* LOCK; */ COMMIT`), [
    `select '' , '' , "Lock"`,
    'commit',
  ])
  t.deepEqual(words('SELECT $$LISTEN$$, $one$ $$ ; $one$, $1'), [`select '' , '' , $1`])
})

test('statements in bodies are found, with what contains them', (t) => {
  const body = (returned: string) => `CREATE OR REPLACE FUNCTION f() RETURNS ${returned} AS $x$ BEGIN
    LOCK TABLE a; EXECUTE format('DROP TABLE %I; SELECT ''x''', name); RAISE 'DROP TABLE b'; END $x$`
  const found = (sql: string) => statementsOf(sql).map(({ words, inside }) => `${inside}: ${words}`)
  const inside = (kind: string) => [
    `${kind}: drop table % i`,
    `${kind}: select ''`,
    `${kind}: begin lock table a`,
    `${kind}: execute format ( '' , name )`,
    `${kind}: raise ''`,
    `${kind}: end`,
  ]
  const sort = (texts: string[]) => [...texts].sort()
  t.deepEqual(sort(found(body('void')).slice(0, -1)), sort(inside('function')))
  t.deepEqual(sort(found(body('trigger')).slice(0, -1)), sort(inside('trigger function')))
  t.is(found(body('trigger')).at(-1), `undefined: create or replace function f ( ) returns trigger as ''`)
  t.deepEqual(found(`DO 'BEGIN NOTIFY a; END'`), ['DO: begin notify a', 'DO: end', `undefined: do ''`])
})
