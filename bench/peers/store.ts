import { PrismaPg } from '@prisma/adapter-pg'
import { v7 } from 'uuid'
import { type Prisma, PrismaClient } from '../../src/database/generated/client.ts'
import { failure, type ListQuery, type Problem, type SpeciesRow } from './species.ts'
import { columnsOf, isTooCold, patched, problemsOf, type SpeciesBody } from './species-body.ts'

// The species of the peers that are written by hand on Prisma.

/** Whether on tables without triggers and CHECKs, as a service begins with them. */
const isLean = process.env['LEAN'] === 'true'
const connection = { connectionString: process.env['DATABASE_URL'] as string, max: 10 }

const prisma = new PrismaClient({
  adapter: new PrismaPg(connection, { schema: isLean ? 'lean' : 'public' }),
  omit: { species: { changed_by: true }, planet: { changed_by: true } },
})

/** An answer that is not a success. */
export class Refusal extends Error {
  readonly body: object

  constructor(
    readonly status: number,
    code: string,
    message: string,
    details: Problem[] = [],
  ) {
    super(message)
    this.body = failure(code, message, details)
  }
}

export async function readOne(id: string): Promise<SpeciesRow> {
  const row = await prisma.species.findUnique({ where: { id } })
  if (row) return row
  if (isLean) throw missing()
  const tombstones = await prisma.$queryRaw<unknown[]>`
    SELECT version FROM public_internal.tombstones WHERE collection = 'species' AND parent_id = '' AND id = ${id}`
  throw tombstones.length > 0 ? new Refusal(410, 'RESOURCE_GONE', 'It was deleted.') : missing()
}

export async function readList({ page, limit, sort, filter }: ListQuery): Promise<[number, SpeciesRow[]]> {
  const [column = 'discovered_date', direction = 'asc'] = sort?.split(':') ?? []
  const colon = filter?.indexOf(':') ?? 0
  const where = filter === undefined ? {} : condition(filter.slice(0, colon), filter.slice(colon + 1))
  const count = prisma.species.count({ where })
  const rows = prisma.species.findMany({
    where,
    orderBy: [
      { [column]: NULLABLE.has(column) ? { sort: direction, nulls: 'last' } : direction },
      { id: 'asc' },
    ],
    skip: (page - 1) * limit,
    take: limit,
  })
  if (isLean) return Promise.all([count, rows])
  return prisma.$transaction([count, rows], { isolationLevel: 'RepeatableRead' })
}

const NULLABLE = new Set(['common_name', 'habitat', 'planet_origin'])

function condition(field: string, value: string): Prisma.SpeciesWhereInput {
  return field === 'planet_origin'
    ? { OR: [{ planet_origin: value }, { planet_id: value }] }
    : { [field]: value }
}

type Client = Pick<typeof prisma, 'species' | 'planet'>

/** The lean one begins no transaction for one species: where that is refused, a planet that is new stays. */
function writing<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
  return refusing(() => (isLean ? work(prisma) : prisma.$transaction(work)))
}

export function create(body: unknown): Promise<SpeciesRow> {
  const species = checked(body)
  return writing((client) => createIn(client, species))
}

async function createIn(client: Client, species: SpeciesBody): Promise<SpeciesRow> {
  const planetId = await planetFor(client, species.planet_origin)
  return client.species.create({ data: { id: v7(), ...columnsOf(species, planetId), ...INITIAL } })
}

const INITIAL = { discovery_status: 'newly_catalogued' }

/** Replaces a species; of the version with this entity tag only, if one is given. */
export async function replace(id: string, body: unknown, ifMatch: string | undefined): Promise<SpeciesRow> {
  const species = checked(body)
  if (species.id !== undefined && species.id !== id) throw invalid([])
  const row = await stored(prisma, id)
  return writing((client) => update(client, row, species, ifMatch))
}

export async function patch(id: string, body: unknown, ifMatch: string | undefined): Promise<SpeciesRow> {
  const row = await stored(prisma, id)
  const species = checkedPatch(row, body)
  return writing((client) => update(client, row, species, ifMatch))
}

/** One write of a batch. */
export interface Operation {
  readonly method: string
  readonly path: string
  readonly body: unknown
}

/** Creates and patches species, all or none. */
export function runTogether(operations: readonly Operation[]): Promise<SpeciesRow[]> {
  return refusing(() =>
    prisma.$transaction(async (client) => {
      const rows: SpeciesRow[] = []
      for (const { method, path, body } of operations) {
        if (method === 'POST') rows.push(await createIn(client, checked(body)))
        else {
          const row = await stored(client, path.slice('/species/'.length))
          rows.push(await update(client, row, checkedPatch(row, body), undefined))
        }
      }
      return rows
    }),
  )
}

export async function remove(id: string): Promise<void> {
  const { count } = await prisma.species.deleteMany({ where: { id } })
  if (count === 0) throw missing()
}

async function stored(client: Client, id: string): Promise<SpeciesRow> {
  const row = await client.species.findUnique({ where: { id } })
  if (!row) throw missing()
  return row
}

async function update(
  client: Client,
  row: SpeciesRow,
  species: SpeciesBody,
  ifMatch: string | undefined,
): Promise<SpeciesRow> {
  const { id, version } = row
  if (ifMatch !== undefined && ifMatch !== `"${id}:${version}"`) throw conflict()
  const isSame = (species.planet_origin ?? null) === row.planet_origin
  const planetId = isSame ? row.planet_id : await planetFor(client, species.planet_origin)
  // Elsewhere, triggers do so.
  const raised = isLean && { version: version + 1, last_updated: new Date() }
  const data = { ...columnsOf(species, planetId), ...raised }
  const [after] = await client.species.updateManyAndReturn({ where: { id, version }, data })
  if (!after) throw conflict()
  return after
}

async function planetFor(client: Client, origin: string | null | undefined): Promise<string | null> {
  if (origin === null || origin === undefined) return null
  const name = { equals: origin, mode: 'insensitive' as const }
  const found =
    (await client.planet.findUnique({ where: { id: origin } })) ??
    (await client.planet.findFirst({ where: { name } }))
  return (found ?? (await client.planet.create({ data: { id: v7(), name: origin } }))).id
}

function checkedPatch(row: SpeciesRow, body: unknown): SpeciesBody {
  if (typeof body !== 'object' || body === null) throw invalid([])
  return checked(patched(row, body as Record<string, unknown>))
}

function checked(body: unknown): SpeciesBody {
  const problems = problemsOf(body)
  if (problems.length > 0) throw invalid(problems)
  if (isTooCold(body as SpeciesBody)) throw new Refusal(422, 'BUSINESS_RULE_VIOLATION', 'Too cold.')
  return body as SpeciesBody
}

function invalid(problems: Problem[]): Refusal {
  return new Refusal(400, 'VALIDATION_FAILED', 'The resource is not valid.', problems)
}

function missing(): Refusal {
  return new Refusal(404, 'RESOURCE_NOT_FOUND', 'There is none.')
}

function conflict(): Refusal {
  return new Refusal(409, 'CONCURRENT_MODIFICATION', 'It has changed.')
}

async function refusing<Result>(write: () => Promise<Result>): Promise<Result> {
  try {
    return await write()
  } catch (error) {
    if ((error as { code?: string }).code !== 'P2002') throw error
    throw new Refusal(409, 'RESOURCE_ALREADY_EXISTS', 'The name is taken.')
  }
}
