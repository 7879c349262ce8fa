import { escapeIdentifier, escapeLiteral } from 'pg'
import type { LeafField } from '../../../src/model/definition/fields.ts'
import { isAlwaysSet } from '../../../src/model/definition/fields.ts'
import type { Leaf, Resource } from '../../../src/model/definition/resource.ts'
import { tableName } from '../../../src/model/definition/resource.ts'
import type { Random } from './random.ts'

/** A row as JSON: the values of representations, by column, with null for unset ones. */
export type Columns = Readonly<Record<string, unknown>>

export interface RandomRow {
  readonly resource: Resource
  readonly id: string
  readonly parentId: string | undefined
  readonly columns: Columns
  /** It is deleted after all rows were stored. */
  readonly isDeleted: boolean
}

const OWNERS = ['ann', 'bob', 'cleo']
const TEXTS = ['ann', 'Ann Bo', 'bo', 'Bo  and ann', 'a%b_c', "o'c", '漢字 owl', 'zed', 'x|y, "z"']
/** A cursor holds only their beginning. */
const STORIES = ['a', 'b', 'c'].map((end) => `${'long '.repeat(300)}${end}`)
const MOMENTS = [
  '2020-01-01T00:00:00.000Z',
  '2021-06-30T23:59:59.999Z',
  '2024-02-29T12:00:00.001Z',
  '2025-05-05T05:05:05.500Z',
]
const DAYS = MOMENTS.map((moment) => moment.slice(0, 10))

/** Few values for each field, so that conditions match some rows and not all, and sorts have equal ones. */
export function valuesOf(leaf: Leaf): readonly unknown[] {
  const { name, field } = leaf
  if (name === 'owner') return OWNERS
  if (name === 'story') return STORIES
  return valuesOfKind(field)
}

function valuesOfKind(field: LeafField): readonly unknown[] {
  switch (field.type) {
    case 'enumeration':
      return field.values
    case 'number':
      return [0, 0.5, 1.25, 3, 1e9]
    case 'integer':
      return [0, 1, 2, 4]
    case 'decimal':
      return ['0.00', '0.10', '2.50', '12.50']
    case 'boolean':
      return [true, false]
    case 'timestamp':
      return MOMENTS
    case 'date':
      return DAYS
    case 'list':
      return field.item.type === 'text' ? [[], ['shy'], ['shy', 'old'], ['old']] : [[], [1], [1, 2], [3]]
    case 'fractions':
      return [{}, { fish: 0.5 }, { fish: 0.25, 'dry food': 0.75 }]
    case 'json':
      return [1, 'a', { a: [1, { b: null }] }, []]
    default:
      return TEXTS
  }
}

/** The resources in the order in which their rows can be stored. */
const COUNTS: Readonly<Record<string, number>> = {
  keepers: 8,
  animals: 45,
  visits: 70,
  passport: 25,
  weighings: 40,
  stays: 30,
  treatments: 60,
}

/** Rows of all resources, which refer only to rows that are not deleted. */
export function randomRows(random: Random, resources: readonly Resource[]): RandomRow[] {
  const rows: RandomRow[] = []
  const kept = (path: string) => rows.filter((row) => row.resource.path === path && !row.isDeleted)
  const ordered = ['keepers', 'animals', 'visits', 'passport', 'weighings', 'stays', 'treatments'].map(
    (path) => resources.find((resource) => resource.path === path) as Resource,
  )
  for (const resource of ordered) {
    const parents = rows.filter((row) => row.resource.path === resource.owner?.path)
    const free = [...parents]
    for (let number = 0; number < (COUNTS[resource.path] as number); number++) {
      const parent = resource.listed ? random.pick(parents) : free.splice(random.below(free.length), 1)[0]
      const id = resource.listed
        ? `${resource.path.slice(0, 2)}${random.below(1e9).toString(36)}`
        : parent?.id
      rows.push({
        resource,
        id: id as string,
        parentId: parent?.id,
        columns: columnsOf(random, resource, id as string, parent?.id, kept),
        isDeleted: parent?.isDeleted || random.chance(0.12),
      })
    }
  }
  return rows
}

function columnsOf(
  random: Random,
  resource: Resource,
  id: string,
  parentId: string | undefined,
  kept: (path: string) => readonly RandomRow[],
): Columns {
  const created = Date.UTC(2030, 0, 1) + random.below(20) * 1_000
  const value = (leaf: Leaf): unknown => {
    const { field } = leaf
    if (!isAlwaysSet(field) && random.chance(0.2)) return null
    if (field.type === 'reference') return random.pick(kept(field.to))?.id ?? null
    if (field.unique) return `${random.pick(TEXTS)} ${id}`
    return random.pick(valuesOf(leaf))
  }
  const stored = resource.leaves.filter(({ field }) => field.computed === undefined)
  const values = Object.fromEntries(stored.map((leaf) => [leaf.column, value(leaf)]))
  const all: Record<string, unknown> = {
    ...values,
    id,
    ...(resource.parentField && { [resource.parentField]: parentId }),
    version: 1 + random.below(3),
    changed_by: random.pick(OWNERS),
    [resource.createdField]: new Date(created).toISOString(),
    last_updated: new Date(created + random.below(3) * 86_400_000).toISOString(),
  }
  // The only computed field of the clinic.
  if (resource.path === 'animals') all['paws'] = all['legs'] === null ? null : (all['legs'] as number) * 2
  return all
}

/** Above those of the clock. */
const LOADED_POSITION = 3e15

const INTERNAL = ['tombstones', 'tombstone_sets', 'recorded_changes', 'idempotency_keys']

/**
 * Statements that replace everything stored with these rows, as they are. In a session that replicates, neither triggers
 * nor foreign keys change or refuse anything. Deletions run afterwards, with the triggers.
 */
export function loadStatements(rows: readonly RandomRow[], resources: readonly Resource[]): string[] {
  const tables = resources.map(({ path }) => escapeIdentifier(tableName(path)))
  const inserts = resources.flatMap((resource) => {
    const own = rows.filter((row) => row.resource.path === resource.path).map(({ columns }) => columns)
    const [first] = own
    if (!first) return []
    const computed = new Set(
      resource.leaves.filter(({ field }) => field.computed).map(({ column }) => column),
    )
    const names = Object.keys(first)
      .filter((column) => !computed.has(column))
      .map(escapeIdentifier)
      .join(', ')
    const table = escapeIdentifier(tableName(resource.path))
    const json = `${escapeLiteral(JSON.stringify(own))}::jsonb`
    return [
      `INSERT INTO ${table} (${names}) SELECT ${names} FROM jsonb_populate_recordset(NULL::${table}, ${json})`,
    ]
  })
  const records = resources.map(
    (resource, index) => `INSERT INTO recorded_changes
        (collection, parent_id, id, version, position, event, changed_date, changed_by, resource, before)
      SELECT ${escapeLiteral(resource.path)}, ${resource.parentField ?? "''"}, current.id, version,
        ${LOADED_POSITION + index * 1e6} + row_number() OVER (ORDER BY current.id), 'created', ${resource.createdField},
        current.changed_by, to_jsonb(current.*), 'null' FROM ${escapeIdentifier(tableName(resource.path))} AS current`,
  )
  const load = [
    'BEGIN',
    'SET LOCAL session_replication_role = replica',
    ...[...INTERNAL, ...tables].map((table) => `DELETE FROM ${table}`),
    ...inserts,
    ...records,
    'UPDATE change_feed SET last_position = (SELECT max(position) FROM recorded_changes)',
    ...resources.map(({ path }) => `SELECT recount_rows(${escapeLiteral(tableName(path))})`),
    'COMMIT',
  ].join(';\n')
  const deletions = [...resources].reverse().flatMap((resource) => {
    const keys = rows
      .filter((row) => row.resource.path === resource.path && row.isDeleted)
      .map(({ id, parentId }) => `(${[parentId ?? id, id].map(escapeLiteral).join(', ')})`)
    const { parentField = 'id', path } = resource
    const table = escapeIdentifier(tableName(path))
    const key = `(${escapeIdentifier(parentField)}, id)`
    return keys.length > 0 ? [`DELETE FROM ${table} WHERE ${key} IN (${keys.join(', ')})`] : []
  })
  // The versions of both databases have the same times.
  const times = "UPDATE recorded_changes SET changed_date = '2031-01-01T00:00:00Z' WHERE event = 'deleted'"
  return [load, ...deletions, times]
}
