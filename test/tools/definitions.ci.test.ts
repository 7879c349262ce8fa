import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import test from 'ava'
import { EXTENSIONS } from '../../src/database/embedded/durability.ts'
import {
  boolean,
  date,
  decimal,
  enumeration,
  fractions,
  group,
  integer,
  json,
  list,
  number,
  reference,
  text,
  timestamp,
} from '../../src/domain/definition.ts'
import { defineResource } from '../../src/model/definition/define-resource.ts'
import type { Field, LeafField } from '../../src/model/definition/fields.ts'
import type { Resource } from '../../src/model/definition/resource.ts'
import type { FieldOptions } from '../../src/model/kinds/kind.ts'
import { definitionProblems } from '../../src/model/problems/definition-problems.ts'
import { createCompleteSchema } from '../../src/service/features.ts'
import { planUpdate, writeUpdate } from '../../tools/resource/migrate.ts'
import { refuseInvalidSchema } from '../../tools/resource/models/validate.ts'
import { createTestFolder } from '../helpers/database/database.ts'

const DECISIONS = { defaults: new Map(), allowDataLoss: false, allowInvalidRows: false }

const define = (kind: Resource['kind'], path: string, fields: Resource['fields'], rest: object = {}) =>
  defineResource({ kind, path, name: nameOf(path), description: 'Described.', fields, ...rest })

const nameOf = (path: string) =>
  path.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase()).replace(/s$/, '')

/** Each option that the database takes part in. */
const OPTIONS: FieldOptions[] = [{}, { required: true }, { initially: 'initial' }].flatMap((set) =>
  [{}, { index: 'sort' as const }, { index: 'filter' as const }].flatMap((indexed) =>
    [{}, { unique: true as const }, { unique: { within: ['other', 'size.height'] } }].map(
      (unique) => ({ ...set, ...indexed, ...unique }) as FieldOptions,
    ),
  ),
)

/** Each kind: a field of it with these options, and an initial value. */
const KINDS: Readonly<Record<string, readonly [(options: object) => LeafField, unknown]>> = {
  text: [(options) => text('T.', options), 'x'],
  email: [(options) => text('E.', { format: 'email', ...options }), 'a@b.c'],
  pattern: [(options) => text('P.', { pattern: "[a-z']+", example: 'a', ...options }), 'a'],
  kept: [(options) => reference('others', 'kept', 'R.', options), 'x'],
  cascade: [(options) => reference('others', 'c', 'R.', { onDelete: 'cascade', ...options }), 'x'],
  unset: [(options) => reference('others', 'u', 'R.', { onDelete: 'set null', ...options }), 'x'],
  nested: [(options) => reference('others', 'n', 'R.', { nested: true, ...options }), 'x'],
  number: [(options) => number('N.', options), 1.5],
  integer: [(options) => integer('I.', { minimum: 0, ...options }), 1],
  decimal: [(options) => decimal(8, 2, 'D.', options), '1.00'],
  boolean: [(options) => boolean('B.', options), true],
  timestamp: [(options) => timestamp('T.', options), '2031-01-01T00:00:00Z'],
  date: [(options) => date('D.', options), '2031-01-01'],
  enumeration: [(options) => enumeration(['a', 'b'], 'E.', options), 'a'],
  fractions: [(options) => fractions('F.', options), 'x'],
  json: [(options) => json('J.', options), 'x'],
  list: [(options) => list(decimal(4, 2, 'I.'), 'L.', options), 'x'],
}

/** The targets of references: a resource can refer to each once. */
const targets = OPTIONS.map((_, index) => define('collection', `target-${index}s`, { name: text('N.') }))
const owner = define('collection', 'owners', { name: text('N.') })

/** A resource with each of these options on a field of its own, except for those that are refused. */
function resourceOf(kind: Resource['kind'], type: string, refused: string[]): Resource {
  const [make, initial] = KINDS[type] as (typeof KINDS)[string]
  const owned = kind === 'collection' ? {} : { owner }
  const others = { other: text('O.'), size: group('S.', { height: integer('H.') }) }
  const fields: Record<string, Field> = { ...others }
  for (const [index, options] of OPTIONS.entries()) {
    const field = make({ ...options, ...(options.initially && { initially: initial }) })
    const of = field.type === 'reference' ? { to: `target-${index}s`, relation: `to-${index}` } : {}
    const name = `field_${index}`
    const given = { ...field, ...of } as LeafField
    const alone = define(kind, 'samples', { ...others, [name]: given }, owned)
    const problems = definitionProblems({ resources: [owner, ...targets, alone] })
    if (problems.length === 0) fields[name] = given
    refused.push(...problems)
  }
  return define(kind, `${kind}-${type}s`, fields, owned)
}

/** Starting one takes seconds. */
const engine = PGlite.create({ extensions: EXTENSIONS })

test('every kind with every option is refused in words, or migrated once, to a schema that Prisma accepts', async (t) => {
  t.timeout(600_000)
  const refused: string[] = []
  const made = (['collection', 'owned', 'singleton'] as const).flatMap((kind) =>
    Object.keys(KINDS).map((type) => resourceOf(kind, type, refused)),
  )
  const resources = [owner, ...targets, ...made]
  t.deepEqual(definitionProblems({ resources }), [])
  t.true(made.flatMap(({ leaves }) => leaves).length > 1_000)
  const reasons = new Set(refused.map((problem) => problem.replace(/^samples(\.| ?: )field_\d+:? /, '')))
  t.deepEqual([...reasons].sort(), REASONS)
  createCompleteSchema(resources)
  const folder = await createTestFolder(t)
  const files = {
    schema: join(folder, 'prisma/schema.prisma'),
    migrations: join(folder, 'prisma/migrations'),
  }
  const plan = async () => planUpdate(resources, files, DECISIONS, { engine: await engine })
  const update = await plan()
  await t.notThrowsAsync(refuseInvalidSchema(update.schema))
  await writeUpdate(update)
  // Planning again applies what was written.
  t.deepEqual([...(await plan()).files.keys()], [])
})

const REASONS = [
  'a field of the kind fractions cannot be unique',
  'a field of the kind fractions has no index',
  'a field of the kind json cannot be unique',
  'a field of the kind json has no index',
  'a field of the kind list cannot be unique',
  'a list has no order to sort by; its index can be filter',
  "is always set, so onDelete cannot be 'set null'",
  'its initial value must be an array',
  'its initial value must be an object that maps names to fractions',
]

const NAMES: readonly [reason: RegExp, Resource[]][] = [
  [
    /^books_author_id_idx would be the name of an index of books on \("author", "id"\) and of an index of books on \("author_id"\)/,
    [
      define('collection', 'books', {
        author: text('A.', { index: 'sort' }),
        author_id: text('I.', { index: 'filter' }),
      }),
    ],
  ],
  [
    /^book_copies_shelf_idx would be the name of an index of book on .* and of an index of book-copies on/,
    [
      define('collection', 'book', { copies_shelf: text('S.', { index: 'filter' }) }),
      define('collection', 'book-copies', { shelf: text('S.', { index: 'filter' }) }),
    ],
  ],
  [
    /^books_title_key would be the name of an index of books on .* and of the table of books-title-key/,
    [
      define('collection', 'books', { title: text('T.', { unique: true }) }),
      define('collection', 'books-title-key', { title: text('T.') }),
    ],
  ],
]

test('a resource cannot have the name of another type of the schema', (t) => {
  const named = (name: string, path: string, fields: Resource['fields'] = { label: text('L.') }) =>
    defineResource({ kind: 'collection', name, path, description: 'Described.', fields })
  const user = named('User', 'users', {
    state: enumeration(['on'], 'S.'),
    at: group('A.', { day: date('D.') }),
  })
  const types = [
    ...Object.keys(createCompleteSchema([user]).getTypeMap()),
    'Query',
    'Mutation',
    'Subscription',
    'Node',
  ]
  t.true(types.length > 60)
  for (const type of types.filter((name) => /^[A-Z]/.test(name))) {
    const message =
      type === 'User'
        ? /Several types would have the name User/
        : new RegExp(`name ${type}: choose another name for things`)
    t.throws(() => createCompleteSchema([user, named(type, 'things')]), { message }, type)
    t.throws(() => createCompleteSchema([named(type, 'things'), user]), { name: 'DefinitionError' }, type)
  }
})

test('names of what every object of JavaScript has are refused wherever there are names', (t) => {
  // No name begins with an underscore.
  for (const name of Object.getOwnPropertyNames(Object.prototype).filter((one) => !one.startsWith('_'))) {
    const snake = name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    const path = snake.replaceAll('_', '-')
    const plain = { label: text('L.') }
    const target = define('collection', 'targets', plain)
    for (const resource of [
      define('collection', 'ones', { ...plain, [snake]: text('T.') }),
      define('collection', 'ones', { ...plain, [name]: text('T.') }),
      define('collection', 'ones', { ...plain, at: group('A.', { [snake]: text('T.') }) }),
      define('collection', 'ones', { ...plain, r: reference('targets', path, 'R.') }),
      define('collection', 'ones', { ...plain, r: reference('targets', 'r', 'R.', { inverse: path }) }),
      define('collection', path, plain),
      define('collection', 'ones', plain, { name: name.charAt(0).toUpperCase() + name.slice(1) }),
    ]) {
      const problems = definitionProblems({ resources: [target, resource] }).join()
      t.regex(problems, /cannot be a name: every object/, `${resource.path} ${name}`)
    }
  }
})

test('definitions whose tables or indexes would share a name are refused, and nothing is written', async (t) => {
  const folder = await createTestFolder(t)
  await mkdir(join(folder, 'prisma'))
  const files = {
    schema: join(folder, 'prisma/schema.prisma'),
    migrations: join(folder, 'prisma/migrations'),
  }
  for (const [message, resources] of NAMES) {
    t.deepEqual(definitionProblems({ resources }), [])
    await t.throwsAsync(planUpdate(resources, files, DECISIONS, { engine: await engine }), { message })
  }
})
