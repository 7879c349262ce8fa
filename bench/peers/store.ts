import { PrismaPg } from '@prisma/adapter-pg'
import { v7 } from 'uuid'
import { type Prisma, PrismaClient } from '../../src/database/generated/client.ts'
import { failure, type ListQuery, type Problem, type SpeciesRow } from './species.ts'
import { columnsOf, isTooCold, patched, problemsOf, type SpeciesBody } from './species-body.ts'

// The species of the peers that are written by hand on Prisma.

const prisma = new PrismaClient({
  adapter: new PrismaPg({ connectionString: process.env['DATABASE_URL'] as string, max: 10 }),
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
  const tombstones = await prisma.$queryRaw<unknown[]>`
    SELECT version FROM public_internal.tombstones WHERE collection = 'species' AND parent_id = '' AND id = ${id}`
  throw tombstones.length > 0
    ? new Refusal(410, 'RESOURCE_GONE', 'It was deleted.')
    : new Refusal(404, 'RESOURCE_NOT_FOUND', 'There is none.')
}

export async function readList({ page, limit, sort, filter }: ListQuery): Promise<[number, SpeciesRow[]]> {
  const [column = 'discovered_date', direction = 'asc'] = sort?.split(':') ?? []
  const colon = filter?.indexOf(':') ?? 0
  const where = filter === undefined ? {} : condition(filter.slice(0, colon), filter.slice(colon + 1))
  return prisma.$transaction(
    [
      prisma.species.count({ where }),
      prisma.species.findMany({
        where,
        orderBy: [
          { [column]: NULLABLE.has(column) ? { sort: direction, nulls: 'last' } : direction },
          { id: 'asc' },
        ],
        skip: (page - 1) * limit,
        take: limit,
      }),
    ],
    { isolationLevel: 'RepeatableRead' },
  )
}

const NULLABLE = new Set(['common_name', 'habitat', 'planet_origin'])

function condition(field: string, value: string): Prisma.SpeciesWhereInput {
  return field === 'planet_origin'
    ? { OR: [{ planet_origin: value }, { planet_id: value }] }
    : { [field]: value }
}

export function create(body: unknown): Promise<SpeciesRow> {
  const species = checked(body)
  return refusing(() =>
    prisma.$transaction(async (transaction) => {
      const planetId = await planetFor(transaction, species.planet_origin)
      return transaction.species.create({ data: { id: v7(), ...columnsOf(species, planetId), ...INITIAL } })
    }),
  )
}

const INITIAL = { discovery_status: 'newly_catalogued' }

/** Replaces a species; of the version with this entity tag only, if one is given. */
export async function replace(id: string, body: unknown, ifMatch: string | undefined): Promise<SpeciesRow> {
  const species = checked(body)
  if (species.id !== undefined && species.id !== id) throw invalid([])
  const row = await prisma.species.findUnique({ where: { id } })
  if (!row) throw new Refusal(404, 'RESOURCE_NOT_FOUND', 'There is none.')
  return update(row, species, ifMatch)
}

export async function patch(id: string, body: unknown, ifMatch: string | undefined): Promise<SpeciesRow> {
  if (typeof body !== 'object' || body === null) throw invalid([])
  const row = await prisma.species.findUnique({ where: { id } })
  if (!row) throw new Refusal(404, 'RESOURCE_NOT_FOUND', 'There is none.')
  return update(row, checked(patched(row, body as Record<string, unknown>)), ifMatch)
}

async function update(
  row: SpeciesRow,
  species: SpeciesBody,
  ifMatch: string | undefined,
): Promise<SpeciesRow> {
  const { id, version } = row
  if (ifMatch !== undefined && ifMatch !== `"${id}:${version}"`) throw conflict()
  return refusing(() =>
    prisma.$transaction(async (transaction) => {
      const isSame = (species.planet_origin ?? null) === row.planet_origin
      const planetId = isSame ? row.planet_id : await planetFor(transaction, species.planet_origin)
      const data = columnsOf(species, planetId)
      const [after] = await transaction.species.updateManyAndReturn({ where: { id, version }, data })
      if (!after) throw conflict()
      return after
    }),
  )
}

async function planetFor(
  transaction: Prisma.TransactionClient,
  origin: string | null | undefined,
): Promise<string | null> {
  if (origin === null || origin === undefined) return null
  const [planet] = await transaction.$queryRaw<{ id: string }[]>`
    SELECT id FROM planets WHERE id = ${origin}
      OR folded(name) = folded(${origin})
    ORDER BY id = ${origin} DESC LIMIT 1`
  if (planet) return planet.id
  const made = await transaction.planet.create({ data: { id: v7(), name: origin } })
  return made.id
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
