import test from 'ava'
import { group, integer, json, reference, text } from '../../src/domain/definition.ts'
import type { AccessRules } from '../../src/model/access/access-rules.ts'
import { defineResource } from '../../src/model/definition/define-resource.ts'
import type { ResourceDefinition } from '../../src/model/definition/resource.ts'
import { DomainError } from '../../src/model/errors.ts'
import { definitionProblems } from '../../src/model/problems/definition-problems.ts'
import { newColumns } from '../../src/model/rows/columns.ts'

/** A caller as a careless rule expects it. */
interface Caller {
  readonly subject?: string
  readonly claims: { readonly groups: readonly string[] }
}

const define = (access: object, more: Partial<ResourceDefinition> = {}) =>
  defineResource({
    kind: 'collection',
    name: 'Loan',
    path: 'loans',
    description: 'A loan.',
    fields: {
      reader: text('Subject of the reader.'),
      pages: integer('Pages.'),
      notes: json('Notes.'),
      size: group('Size.', { height: integer('Height.') }),
      sequel_id: reference('loans', 'sequel', 'Sequel.'),
    },
    access: access as AccessRules,
    ...more,
  })

const problemsOf = (access: object, more: Partial<ResourceDefinition> = {}, settings = {}) =>
  definitionProblems({ resources: [define(access, more)], settings })

test('rules over fields of the row or of one that it refers to, or for everyone or no one, are accepted', (t) => {
  const rules: AccessRules = {
    read: ({ subject, claims }) => ({
      or: [
        { reader: { equals: subject } },
        { not: { size: { height: { gt: 1 } } } },
        { pages: { lte: claims['pages'] } },
        { sequel: { reader: { equals: subject }, not: { pages: { gt: 5 } } } },
      ],
    }),
    create: () => true,
    change: ({ scopes }) => scopes.has('loans:admin'),
    delete: () => ({ id: { in: ['a'] }, created_date: { lt: new Date() } }),
  }
  t.deepEqual(problemsOf(rules), [])
})

for (const [claim, access, problem] of [
  ['another action', { update: () => true }, 'update: the actions are read, create, change, delete'],
  ['an unknown field', { read: () => ({ owner: { equals: 'a' } }) }, 'read: loans has no field owner'],
  ['another member', { read: () => ({ size: { width: { gt: 1 } } }) }, 'read: loans has no field size.width'],
  [
    'an unknown field of a relation',
    { read: () => ({ sequel: { size: { width: { gt: 1 } } } }) },
    'read: loans has no field size.width',
  ],
  [
    'a relation of a relation',
    { read: () => ({ not: { sequel: { sequel: { reader: { equals: 'a' } } } } }) },
    'read: loans has no field sequel',
  ],
  ['a search', { read: () => ({ search: 'a' }) }, 'read: loans has no field search'],
  ['no operator', { read: () => ({ pages: 5 }) }, 'read: pages needs an operator, as in { equals: … }'],
  ['a text as a condition', { read: () => ({ or: ['a'] }) }, 'read: a condition is an object, true or false'],
  [
    'an operator of other kinds',
    { read: () => ({ reader: { gt: 'a' } }) },
    'read: A field of the kind text cannot be compared with gt.',
  ],
  [
    'a field that is not compared',
    { read: () => ({ notes: { equals: 1 } }) },
    'read: A field of the kind json cannot be compared with equals.',
  ],
  [
    'no decision',
    { delete: () => undefined },
    'delete: it returns undefined, and not true, false or a filter',
  ],
  [
    'a claim that is taken for granted',
    { read: ({ claims }: Caller) => ({ reader: { in: claims.groups.map(String) } }) },
    "read: it fails for a caller without a token: Cannot read properties of undefined (reading 'map')",
  ],
  [
    'a claim that each subject is expected to have',
    { read: ({ subject, claims }: Caller) => subject !== undefined && claims.groups.includes('staff') },
    "read: it fails for a caller without claims: Cannot read properties of undefined (reading 'includes')",
  ],
  [
    'a claim that is expected to be a list',
    { read: ({ claims }: Caller) => claims.groups?.some((name) => name === 'staff') ?? false },
    'read: it fails for a caller whose claims are texts: claims.groups?.some is not a function',
  ],
] as const) {
  test(`a rule with ${claim} is refused`, (t) => {
    t.true(problemsOf(access).includes(`loans.access.${problem}`), problemsOf(access).join('\n'))
  })
}

test('a rule is tried with each choice of a setting', (t) => {
  const read = (_: unknown, settings: { loanAccess?: string }) =>
    settings.loanAccess === 'own' ? { owner: { equals: 'a' } } : true
  const settings = { LOAN_ACCESS: { description: 'D.', choices: ['all', 'own'] } }
  t.deepEqual(problemsOf({ read }), [])
  t.deepEqual(problemsOf({ read }, {}, settings), ['loans.access.read: loans has no field owner'])
})

test('what is no function has this problem alone', (t) => {
  t.deepEqual(problemsOf({ read: { reader: { equals: 'a' } } }), [
    'loans.access.read: a rule is a function of the caller',
  ])
})

test('what never changes has no rule for changes', (t) => {
  t.deepEqual(problemsOf({ change: () => true }, { appendOnly: true }), [
    'loans.access.change: the resource is append-only, so it does not change',
  ])
})

test('an initial value that depends on the caller says whether callers may send another', (t) => {
  const withOwner = (options: object) =>
    problemsOf(
      {},
      {
        fields: {
          owner: text('Owner.', { initially: (caller) => caller.subject, ...options }),
          name: text('N.'),
        },
      },
    )
  t.deepEqual(withOwner({ readOnly: true }), [])
  t.deepEqual(withOwner({ readOnly: false }), [])
  t.deepEqual(withOwner({}), [
    'loans.owner: its initial value depends on the caller, who could also send another one: add `readOnly: true`, or `readOnly: false` to allow it',
  ])
})

test('a required value that the token should determine, and does not, is refused', (t) => {
  const owner = text('Owner.', { required: true, readOnly: true, initially: (caller) => caller.subject })
  const owned = define({}, { fields: { owner, name: text('N.') } })
  const columnsFor = (subject: string | undefined) =>
    newColumns(owned, {}, { subject, scopes: new Set(), claims: {} })
  t.is(columnsFor('ada')['owner'], 'ada')
  const error = t.throws(() => columnsFor(undefined), { instanceOf: DomainError })
  t.is(error?.code, 'VALIDATION_FAILED')
  t.like(error?.details[0], { field: 'owner', code: 'REQUIRED_FIELD' })
})
