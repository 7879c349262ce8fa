import type { Access } from '../model/access/access.ts'
import type { Resource } from '../model/definition/resource.ts'
import type { AggregateRequest, Group } from '../model/query/aggregate.ts'
import type { List, ListRequest } from '../model/query/list.ts'
import { keyColumns, type ResourceKey } from '../model/rows/identifiers.ts'
import type { Columns, Row } from '../model/rows/row.ts'
import { rejectUnavailable } from './errors.ts'
import type { Prisma, PrismaClient } from './generated/client.ts'
import { batchKeyReads, withKeys } from './key-reads.ts'
import { referredOf } from './referred.ts'
import { aggregateStatement, toGroups } from './sql/aggregate.ts'
import { listStatement, listsStatement, type Parents, toList, toLists } from './sql/list.ts'
import type { Statement } from './sql/statement.ts'
import { deleteStatement, insertStatement } from './sql/write.ts'
import { fromPrisma, toData } from './stored-values.ts'

type Send = <Result>(statement: Statement) => Promise<Result[]>

/** The methods of a Prisma model that the service uses. */
interface PrismaModel {
  findMany(query: object): Promise<Row[]>
  findFirst(query: object): Promise<Row | null>
  updateManyAndReturn(query: object): Promise<Row[]>
}

/** What sends statements. */
export type StatementClient = Pick<DatabaseClient, '$rows'>

/** The data of a domain, outside transactions or inside one. Rows have the same values wherever they come from. */
export class DatabaseClient {
  readonly #readByKey: ReturnType<typeof batchKeyReads> | undefined

  /** @param send sends a statement on a connection of the pool; undefined inside a transaction */
  constructor(
    readonly prisma: PrismaClient | Prisma.TransactionClient,
    private readonly send?: Send,
  ) {
    if (!send) return
    this.#readByKey = batchKeyReads((resource, query) =>
      this.#findAll(resource, query).catch(rejectUnavailable),
    )
  }

  get isInTransaction(): boolean {
    return this.send === undefined
  }

  /** Runs work in a transaction or, inside one, in a savepoint. */
  transaction<Result>(work: (inside: DatabaseClient) => Promise<Result>): Promise<Result> {
    return (this.prisma as PrismaClient).$transaction((prisma) => work(new DatabaseClient(prisma)))
  }

  disconnect(): Promise<void> {
    return (this.prisma as PrismaClient).$disconnect()
  }

  /** Reads the rows of a handwritten statement, which must name its columns instead of using `*`. */
  $rows<Result>(statement: Statement): Promise<Result[]> {
    return this.send?.(statement) ?? this.prisma.$queryRawUnsafe(statement.text, ...statement.values)
  }

  /** Null also for a row that the caller may not read. Callers share statements, so access is decided on the row. */
  findByKey(resource: Resource, key: ResourceKey, access: Access): Promise<Row | null> {
    const reading = this.#readByKey?.(resource, key) ?? this.#findFirst(resource, key)
    return access.readable(resource) ? this.#readable(reading, resource, key, access) : reading
  }

  /** Reads the parent if that decides, also of a row that does not exist, so that both take the same statements. */
  async #readable(
    reading: Promise<Row | null>,
    resource: Resource,
    { id, parentId = id }: ResourceKey,
    access: Access,
  ): Promise<Row | null> {
    const { owner } = resource
    const parent = owner && access.readable(owner) && this.findByKey(owner, { id: parentId }, access)
    const [row, parentRow] = await Promise.all([reading, parent])
    if (!row || parentRow === null) return null
    const referred = await referredOf(this, access, 'read', resource, [row])
    return access.admits('read', resource, row, referred) ? row : null
  }

  /** Leaves out rows that the caller may not read. */
  async findMany(resource: Resource, query: object, access: Access): Promise<Row[]> {
    const rows = await this.#findAll(resource, query)
    if (!access.readable(resource)) return rows
    const referred = await referredOf(this, access, 'read', resource, rows)
    const admitted = rows.filter((row) => access.admits('read', resource, row, referred))
    const { owner, parentField } = resource
    if (!owner || !parentField || !access.readable(owner) || admitted.length === 0) return admitted
    const parentKeys = [...new Set(admitted.map((row) => row[parentField] as string))].map((id) => ({ id }))
    const parents = await this.findMany(owner, { where: withKeys(owner, parentKeys) }, access)
    const ids = new Set(parents.map(({ id }) => id))
    return admitted.filter((row) => ids.has(row[parentField] as string))
  }

  async #findFirst(resource: Resource, key: ResourceKey): Promise<Row | null> {
    const row = await this.#model(resource).findFirst({ where: keyColumns(resource, key) })
    return row && fromPrisma(resource, row)
  }

  async #findAll(resource: Resource, query: object): Promise<Row[]> {
    const rows = await this.#model(resource).findMany(query)
    return rows.map((row) => fromPrisma(resource, row))
  }

  async updateManyAndReturn(resource: Resource, where: Columns, columns: Columns): Promise<Row[]> {
    const rows = await this.#model(resource).updateManyAndReturn({ where, data: toData(resource, columns) })
    return rows.map((row) => fromPrisma(resource, row))
  }

  /** Returns how many rows were deleted. */
  async delete(resource: Resource, where: Columns, author: string): Promise<number> {
    return (await this.$rows(deleteStatement(resource, where, author))).length
  }

  async list(resource: Resource, request: ListRequest): Promise<List> {
    return toList(request, await this.#rowsOf(resource, listStatement(resource, request)))
  }

  /** The lists of several parents, by their identifiers. */
  async lists(resource: Resource, parents: Parents, request: ListRequest) {
    return toLists(request, await this.#rowsOf(resource, listsStatement(resource, parents, request)))
  }

  async measureGroups(resource: Resource, request: AggregateRequest): Promise<Group[]> {
    return toGroups(resource, request, await this.$rows<Columns>(aggregateStatement(resource, request)))
  }

  /** Adds rows that have the same columns. Prisma's `create` of one takes four times the processor time. */
  createAll(resource: Resource, rows: readonly Columns[]): Promise<Row[]> {
    return this.#rowsOf(resource, insertStatement(resource, rows))
  }

  /** Prisma runs the statements inside a transaction, and converts their values. */
  async #rowsOf(resource: Resource, statement: Statement): Promise<Row[]> {
    const rows = await this.$rows<Row>(statement)
    return this.isInTransaction ? rows.map((row) => fromPrisma(resource, row)) : rows
  }

  #model({ name }: Resource): PrismaModel {
    const model = name.charAt(0).toLowerCase() + name.slice(1)
    return (this.prisma as unknown as Record<string, PrismaModel>)[model] as PrismaModel
  }
}
