import { Prisma } from '@prisma/client/extension'
import { DbNull, Decimal } from '@prisma/client/runtime/client'
import { kindOf } from '../model/fields.ts'
import { keyColumns, type ResourceKey } from '../model/identifiers.ts'
import type { AggregateRequest, Group } from '../model/query/aggregate.ts'
import type { List, ListRequest } from '../model/query/list.ts'
import type { Resource } from '../model/resource.ts'
import type { Columns, Row } from '../model/row.ts'
import { rejectUnavailable } from './errors.ts'
import type { PrismaClient } from './generated/client.ts'
import { batchKeyReads } from './key-reads.ts'
import { aggregateStatement, toGroups } from './sql/aggregate.ts'
import { insertStatement } from './sql/insert.ts'
import { listStatement, listsStatement, type Parents, toList, toLists } from './sql/list.ts'
import type { Statement } from './sql/statement.ts'

/** The part of the extended client that every domain has, inside and outside transactions. */
export interface Client {
  /** Reads the rows of a handwritten statement, which must name its columns instead of using `*`. */
  $rows<Result>(statement: Statement): Promise<Result[]>
}

/** The methods of a Prisma model that the service uses, with those of the extension. */
export interface Model {
  findByKey(resource: Resource, key: ResourceKey): Promise<Row | null>
  list(resource: Resource, request: ListRequest): Promise<List>
  /** Keyed by the identifier of the parent. */
  lists(resource: Resource, parents: Parents, request: ListRequest): Promise<ReadonlyMap<string, List>>
  measureGroups(resource: Resource, request: AggregateRequest): Promise<Group[]>
  /** Adds rows that have the same columns, inside a transaction. */
  createAll(resource: Resource, rows: readonly Columns[]): Promise<Row[]>
  findMany(query: object): Promise<Row[]>
  findFirst(query: object): Promise<Row | null>
  create(query: { readonly data: object }): Promise<Row>
  updateManyAndReturn(query: { readonly where: object; readonly data: object }): Promise<Row[]>
  deleteMany(query: object): Promise<{ count: number }>
}

export function prismaModel(client: object, resource: Resource): Model {
  const model = resource.name.charAt(0).toLowerCase() + resource.name.slice(1)
  return withStoredValues(resource, (client as Record<string, Model>)[model] as Model)
}

/** Statements run on the driver's pool outside transactions, and on Prisma's connection inside one. */
export function extend(prisma: PrismaClient, send: Client['$rows']) {
  const readByKey = batchKeyReads((resource, query) =>
    prismaModel(prisma, resource).findMany(query).catch(rejectUnavailable),
  )
  const rowsOf = <Result>(client: QueryClient, statement: Statement): Promise<Result[]> =>
    isOutside(client) ? send(statement) : client.$queryRawUnsafe(statement.text, ...statement.values)
  /** Returns the same values inside a transaction, where Prisma reads them. */
  const resourceRows = async (client: QueryClient, resource: Resource, statement: Statement) => {
    const rows = await rowsOf<Row>(client, statement)
    return isOutside(client) ? rows : storedValues(resource, rows)
  }
  return prisma.$extends({
    client: {
      $rows<Result>(statement: Statement): Promise<Result[]> {
        return rowsOf(Prisma.getExtensionContext(this) as unknown as QueryClient, statement)
      },
    },
    model: {
      $allModels: {
        findByKey(resource, key) {
          const client = clientOf(this)
          if (isOutside(client)) return readByKey(resource, key)
          return prismaModel(client, resource).findFirst({ where: keyColumns(resource, key) })
        },
        async list(resource, request) {
          const statement = listStatement(resource, request)
          return toList(request, await resourceRows(clientOf(this), resource, statement))
        },
        async lists(resource, parents, request) {
          const statement = listsStatement(resource, parents, request)
          return toLists(request, await resourceRows(clientOf(this), resource, statement))
        },
        async measureGroups(resource, request) {
          const rows = await rowsOf<Columns>(clientOf(this), aggregateStatement(resource, request))
          return toGroups(resource, request, rows)
        },
        createAll(resource, rows) {
          return resourceRows(clientOf(this), resource, insertStatement(resource, rows))
        },
      } satisfies Partial<Model>,
    },
  })
}

type QueryClient = Pick<PrismaClient, '$queryRawUnsafe'>

function isOutside(client: object): boolean {
  return '$connect' in client
}

function clientOf(model: unknown): QueryClient {
  return (Prisma.getExtensionContext(model) as unknown as { $parent: QueryClient }).$parent
}

/** Converts values that Prisma would otherwise not store exactly. */
export function toData({ leaves }: Resource, columns: Columns): Columns {
  const data: Record<string, unknown> = { ...columns }
  for (const { column, field } of leaves) {
    const convert = CONVERSIONS[kindOf(field).prismaType]
    if (convert && column in data) data[column] = convert(data[column])
  }
  return data
}

const RETURN_ROWS = ['findMany', 'findFirst', 'create', 'updateManyAndReturn'] as const

type Rows = Readonly<Record<(typeof RETURN_ROWS)[number], (...parameters: never[]) => Promise<unknown>>>

/** A Prisma model that returns the same values as statements. */
function withStoredValues<Model extends Rows>(resource: Resource, model: Model): Model {
  if (convertedLeaves(resource).length === 0) return model
  return new Proxy(model, {
    get(target, name: keyof Rows) {
      if (!RETURN_ROWS.includes(name)) return target[name]
      return async (...parameters: never[]) => storedValues(resource, await target[name](...parameters))
    },
  })
}

function convertedLeaves({ leaves }: Resource) {
  return leaves.filter(({ field }) => kindOf(field).fromPrisma)
}

/** Converts one or several rows of Prisma to the values of statements. */
function storedValues<Rows>(resource: Resource, rows: Rows, leaves = convertedLeaves(resource)): Rows {
  if (!rows || leaves.length === 0) return rows
  if (Array.isArray(rows)) return rows.map((row) => storedValues(resource, row, leaves)) as Rows
  const values: Record<string, unknown> = { ...rows }
  for (const { column, field } of leaves)
    values[column] &&= kindOf(field).fromPrisma?.(values[column] as never, field)
  return values as Rows
}

/** Keyed by the type in the Prisma schema. Prisma rounds some numbers to 16 digits, of which a Decimal keeps all 17. */
const CONVERSIONS: Readonly<Record<string, (value: unknown) => unknown>> = {
  // Numbers inside an object or an array are kept. Prisma stores null as the JSON value null.
  Json: (value) => (typeof value === 'number' ? new Decimal(value) : (value ?? DbNull)),
  // Those beyond 2^53, of which the greatest would overflow.
  Float: (value) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) ? new Decimal(value as number) : value,
}
