import { escapeLiteral as literal, escapeIdentifier as quoted } from 'pg'
import { fixedInitial, isAlwaysSet, kindOf, type LeafField } from '../../../src/model/definition/fields.ts'
import { type Leaf, type Resource, tableName } from '../../../src/model/definition/resource.ts'
import { uniqueExpression, uniqueIndexName, uniqueLeaves } from '../../../src/model/definition/uniqueness.ts'
import { searchable, searchExpression, searchIndexName } from '../../../src/model/query/search.ts'

export interface Column {
  readonly name: string
  readonly type: string
  readonly notNull: boolean
  readonly default?: string
  /** The expression of a generated column. */
  readonly generated?: string | undefined
  /** The field; undefined for what the engine keeps: `version` and `changed_by`. */
  readonly leaf?: Leaf
}

export interface Constraint {
  readonly name: string
  /** Follows `ADD CONSTRAINT name`. */
  readonly text: string
  /** The table that a foreign key refers to. */
  readonly refersTo?: string
}

export interface Index {
  readonly name: string
  /** Follows `CREATE [UNIQUE] INDEX name ON table`. If it needs pg_trgm, with `%s` for the schema of that extension. */
  readonly text: string
  /** The attribute of Prisma's model; undefined for what it cannot declare. */
  readonly attribute?: string
  readonly unique?: true
  /** Whether it needs pg_trgm. A server without this extension has no such index. */
  readonly needsTrigrams?: true
}

/** The table of a resource. `serve_resource` adds its triggers and the constraint on its identifiers. */
export interface Table {
  readonly name: string
  readonly resource: Resource
  readonly columns: readonly Column[]
  readonly primaryKey: Constraint
  readonly checks: readonly Constraint[]
  readonly foreignKeys: readonly Constraint[]
  readonly indexes: readonly Index[]
}

export function makeTable(resource: Resource): Table {
  const name = tableName(resource.path)
  const { parentField } = resource
  const key = parentField ? [parentField, 'id'] : ['id']
  return {
    name,
    resource,
    columns: columnsOf(resource),
    primaryKey: { name: `${name}_pkey`, text: `PRIMARY KEY (${list(key)})` },
    checks: [...singletonChecks(resource), ...resource.leaves.flatMap((leaf) => checksOf(resource, leaf))],
    foreignKeys: foreignKeysOf(resource),
    indexes: indexesOf(resource),
  }
}

/** The identifier of the parent comes first, as in the primary key. */
function columnsOf({ leaves, parentField, createdField }: Resource): Column[] {
  const ordered = [
    ...leaves.filter(({ column }) => column === parentField),
    ...leaves.filter(({ column }) => column !== parentField),
  ]
  const setHere = [createdField, 'last_updated']
  const columns = ordered.map((leaf): Column => {
    const type = columnType(leaf.field)
    // So that a row can be added in the database without it.
    const initial = fixedInitial(leaf.field)
    return {
      name: leaf.column,
      type,
      notNull: isAlwaysSet(leaf.field),
      generated: leaf.field.computed,
      ...(setHere.includes(leaf.name) && { default: 'statement_timestamp()' }),
      ...(initial !== undefined && { default: valueAsSql({ type }, initial) }),
      leaf,
    }
  })
  return [
    ...columns,
    { name: 'version', type: 'INTEGER', notNull: true, default: '1' },
    { name: 'changed_by', type: 'TEXT COLLATE "C"', notNull: false },
  ]
}

/** A value of the field as SQL, with its type. */
export function valueAsSql({ type }: Pick<Column, 'type'>, value: unknown): string {
  const text = type === 'JSONB' ? JSON.stringify(value) : value
  return `${literal(text instanceof Date ? text.toISOString() : String(text))}::${type.replace(/ COLLATE .*/, '').toLowerCase()}`
}

function columnType(field: LeafField): string {
  const { columnType, columnParameters } = kindOf(field)
  return columnType + (columnParameters?.(field) ?? '')
}

function singletonChecks({ kind, path, parentField }: Resource): Constraint[] {
  if (kind !== 'singleton' || !parentField) return []
  const name = `${tableName(path)}_one_for_each_${parentField.replace(/_id$/, '')}_check`
  return [{ name, text: `CHECK ("id" = ${quoted(parentField)})` }]
}

/** `serve_resource` adds the constraints of identifiers. */
function checksOf({ path, parentField }: Resource, { column, field }: Leaf): Constraint[] {
  if (['id', parentField].includes(column)) return []
  const condition = kindOf(field).constraint?.(quoted(column), field)
  return condition ? [{ name: `${tableName(path)}_${column}_check`, text: `CHECK (${condition})` }] : []
}

function foreignKeysOf({ path, owner, parentField, leaves }: Resource): Constraint[] {
  const foreignKey = (column: string, target: string, action: string): Constraint => ({
    name: `${tableName(path)}_${column}_fkey`,
    text: `FOREIGN KEY (${quoted(column)}) REFERENCES ${quoted(target)}("id") ON DELETE ${action} ON UPDATE CASCADE`,
    refersTo: target,
  })
  const references = leaves.flatMap(({ column, field }) => {
    if (field.type !== 'reference') return []
    return [foreignKey(column, tableName(field.to), (field.onDelete ?? 'restrict').toUpperCase())]
  })
  if (!owner || !parentField) return references
  return [foreignKey(parentField, tableName(owner.path), 'CASCADE'), ...references]
}

/** The default order first, then unique values, then declared indexes and references in the order of the fields. */
function indexesOf(resource: Resource): Index[] {
  const { kind, path, parentField, createdField, leaves } = resource
  const table = tableName(path)
  const within = parentField ? [parentField] : []
  const plain = (columns: readonly string[]): Index => ({
    name: `${table}_${columns.join('_')}_idx`,
    text: `(${list(columns)})`,
    attribute: `index([${columns.join(', ')}])`,
  })
  const unique = (key: readonly Leaf[]): Index => {
    const values = key.map((leaf) => uniqueExpression(resource, leaf, quoted(leaf.column)))
    return { name: uniqueIndexName(resource, key), text: `(${values.join(', ')})`, unique: true }
  }
  const own =
    kind === 'singleton'
      ? unique(leaves.filter(({ column }) => column === parentField))
      : plain([...within, createdField, 'id'])
  const keys = leaves.flatMap((leaf) => {
    const key = uniqueLeaves(resource, leaf)
    return key ? [unique(key)] : []
  })
  const ofKind = (column: string, field: LeafField): Index | undefined => {
    const { indexedBy, prismaIndex } = kindOf(field)
    if (!indexedBy || !prismaIndex) return undefined
    return { name: `${table}_${column}_idx`, text: indexedBy(quoted(column)), attribute: prismaIndex(column) }
  }
  const lists = leaves.flatMap(({ column, field }) => [
    ...(field.index === 'sort' ? [plain([...within, column, 'id'])] : []),
    ...(field.index === 'list' ? [plain([...within, column, createdField, 'id'])] : []),
    ...(field.index === 'filter' ? [ofKind(column, field) ?? plain([...within, column])] : []),
    ...(field.type === 'reference' ? [plain([column])] : []),
  ])
  const all = [own, ...keys, ...lists, ...(resource.searchIndex ? [searchIndexOf(resource)] : [])]
  // A reference has an index that `index: 'filter'` may ask for again.
  const texts = all.map(({ name, text }) => name + text)
  return all.filter((_, place) => texts.indexOf(texts[place] as string) === place)
}

function searchIndexOf(resource: Resource): Index {
  const columns = searchable(resource).map(({ column }) => quoted(column))
  return {
    name: searchIndexName(resource),
    text: `USING gin (${searchExpression(columns)} %s.gin_trgm_ops)`,
    needsTrigrams: true,
  }
}

export function list(names: readonly string[]): string {
  return names.map((name) => quoted(name)).join(', ')
}

/** The dotted name of its field. */
export function nameOf({ name, leaf }: Column): string {
  return leaf?.name ?? name
}

/** As `--default` names it. */
export function fieldOf({ resource }: Table, column: Column): string {
  return `${resource.path}.${nameOf(column)}`
}
