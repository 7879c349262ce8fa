import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import pg from 'pg'
import { v7 } from 'uuid'
import {
  created,
  entityTag,
  failure,
  type ListQuery,
  listed,
  listQuery,
  type SpeciesRow,
  shown,
} from './species.ts'
import { columnsOf, isTooCold, patched, problemsOf, type SpeciesBody } from './species-body.ts'

// The floor: node:http and prepared statements, with nothing in between.

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 10 })
const secret = process.env['JWT_SECRET'] as string
const verifiesTokens = process.env['VERIFY_TOKENS'] !== 'false'
const ITEM = '/api/v1/species/'

createServer((request, response) => {
  answer(request, response).catch((error) => {
    console.error(error)
    send(response, 500, failure('INTERNAL_ERROR', 'Internal error.'))
  })
}).listen(Number(process.env['PORT']), '127.0.0.1')

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method } = request
  const url = request.url as string
  const scopes = scopesOf(request.headers.authorization ?? '')
  if (!scopes) return send(response, 401, failure('AUTHENTICATION_REQUIRED', 'Send an access token.'))
  if (!scopes.includes(method === 'GET' ? '*:read' : '*:write')) {
    return send(response, 403, failure('ACCESS_DENIED', 'The token lacks the scope.'))
  }
  const base = `http://${request.headers.host}/api/v1`
  if (url.startsWith(ITEM)) {
    const id = url.slice(ITEM.length)
    if (method === 'GET') return read(request, response, id, base)
    if (method === 'PUT' || method === 'PATCH') return change(request, response, id)
  } else if (method === 'GET') {
    const query = listQuery(new URLSearchParams(url.split('?')[1] ?? ''))
    if (!query) return send(response, 400, failure('INVALID_QUERY_PARAMETER', 'The query is not valid.'))
    return list(response, query, base)
  } else if (method === 'POST') {
    return create(request, response, base)
  }
  send(response, 405, failure('METHOD_NOT_ALLOWED', 'That is not possible here.'))
}

function scopesOf(authorization: string): string[] | undefined {
  if (!verifiesTokens) return ['*:read', '*:write']
  const [header, payload, signature] = authorization.slice('Bearer '.length).split('.')
  if (!payload || !signature) return undefined
  const expected = createHmac('sha256', secret).update(`${header}.${payload}`).digest()
  const actual = Buffer.from(signature, 'base64url')
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) return undefined
  const { scope, exp } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as {
    scope: string
    exp: number
  }
  return exp * 1000 > Date.now() ? scope.split(' ') : undefined
}

async function read(
  request: IncomingMessage,
  response: ServerResponse,
  id: string,
  base: string,
): Promise<void> {
  const row = await find(id)
  if (!row) return send(response, 404, failure('RESOURCE_NOT_FOUND', 'There is none.'))
  describe(response, row)
  if (request.headers['if-none-match'] === entityTag(row)) response.writeHead(304).end()
  else send(response, 200, shown(row, base))
}

async function find(id: string): Promise<SpeciesRow | undefined> {
  const text = 'SELECT * FROM species WHERE id = $1'
  return (await pool.query<SpeciesRow>({ name: 'read', text, values: [id] })).rows[0]
}

async function list(response: ServerResponse, query: ListQuery, base: string): Promise<void> {
  const { page, limit, sort, filter } = query
  const [column = 'discovered_date', direction = 'asc'] = sort?.split(':') ?? []
  const colon = filter?.indexOf(':') ?? 0
  const field = filter?.slice(0, colon)
  const condition = field === 'planet_origin' ? '(planet_origin = $1 OR planet_id = $1)' : `${field} = $1`
  const where = filter === undefined ? '' : `WHERE ${condition}`
  const values = filter === undefined ? [] : [filter.slice(colon + 1)]
  const name = `${sort ?? ''} ${field ?? ''}`
  const n = values.length
  const rowsText = `SELECT * FROM species ${where} ORDER BY ${column} ${direction} NULLS LAST, id
    LIMIT $${n + 1} OFFSET $${n + 2}`
  const [count, rows] = await Promise.all([
    pool.query({
      name: `count ${name}`,
      text: `SELECT count(*)::int AS total FROM species ${where}`,
      values,
    }),
    pool.query<SpeciesRow>({
      name: `list ${name}`,
      text: rowsText,
      values: [...values, limit, (page - 1) * limit],
    }),
  ])
  send(response, 200, listed(rows.rows, count.rows[0].total, query, base))
}

const INSERTED = Object.keys(columnsOf({ scientific_name: '' }, null))
const INSERT = `INSERT INTO species (id, discovery_status, ${INSERTED.join(', ')})
  VALUES ($1, 'newly_catalogued', ${INSERTED.map((_, index) => `$${index + 2}`).join(', ')}) RETURNING *`
const UPDATE = `UPDATE species SET ${INSERTED.map((column, index) => `${column} = $${index + 3}`).join(', ')}
  WHERE id = $1 AND version = $2 RETURNING *`

async function create(request: IncomingMessage, response: ServerResponse, base: string): Promise<void> {
  const body = await readJson(request)
  if (refused(response, body)) return
  const planetId = await planetFor(body.planet_origin)
  try {
    const values = [v7(), ...Object.values(columnsOf(body, planetId))]
    const { rows } = await pool.query<SpeciesRow>({ name: 'insert', text: INSERT, values })
    const row = rows[0] as SpeciesRow
    describe(response, row)
    response.setHeader('Location', `${base}/species/${row.id}`)
    send(response, 201, created(row, base))
  } catch (error) {
    sendDuplicate(response, error)
  }
}

async function change(request: IncomingMessage, response: ServerResponse, id: string): Promise<void> {
  const sent = await readJson(request)
  const row = await find(id)
  if (!row) return send(response, 404, failure('RESOURCE_NOT_FOUND', 'There is none.'))
  const ifMatch = request.headers['if-match']
  if (ifMatch !== undefined && ifMatch !== entityTag(row)) return sendConflict(response)
  const body = request.method === 'PATCH' ? patched(row, sent as unknown as Record<string, unknown>) : sent
  if (refused(response, body)) return
  const isSame = (body.planet_origin ?? null) === row.planet_origin
  const planetId = isSame ? row.planet_id : await planetFor(body.planet_origin)
  try {
    const values = [id, row.version, ...Object.values(columnsOf(body, planetId))]
    const { rows } = await pool.query<SpeciesRow>({ name: 'update', text: UPDATE, values })
    if (!rows[0]) return sendConflict(response)
    describe(response, rows[0])
    response.writeHead(204).end()
  } catch (error) {
    sendDuplicate(response, error)
  }
}

async function planetFor(origin: string | null | undefined): Promise<string | null> {
  if (origin === null || origin === undefined) return null
  const text = `SELECT id FROM planets WHERE id = $1
    OR folded(name) = folded($1) ORDER BY id = $1 DESC LIMIT 1`
  const { rows } = await pool.query({ name: 'planet', text, values: [origin] })
  if (rows[0]) return rows[0].id
  const id = v7()
  await pool.query('INSERT INTO planets (id, name) VALUES ($1, $2)', [id, origin])
  return id
}

function refused(response: ServerResponse, body: SpeciesBody): boolean {
  const problems = problemsOf(body)
  if (problems.length > 0) send(response, 400, failure('VALIDATION_FAILED', 'Not valid.', problems))
  else if (isTooCold(body)) send(response, 422, failure('BUSINESS_RULE_VIOLATION', 'Too cold.'))
  else return false
  return true
}

function sendConflict(response: ServerResponse): void {
  send(response, 409, failure('CONCURRENT_MODIFICATION', 'It has changed.'))
}

function sendDuplicate(response: ServerResponse, error: unknown): void {
  if ((error as { code?: string }).code !== '23505') throw error
  send(response, 409, failure('RESOURCE_ALREADY_EXISTS', 'The name is taken.'))
}

function describe(response: ServerResponse, row: SpeciesRow): void {
  response.setHeader('ETag', entityTag(row))
  response.setHeader('Last-Modified', row.last_updated.toUTCString())
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  })
  response.end(text)
}

async function readJson(request: IncomingMessage): Promise<SpeciesBody> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString()) as SpeciesBody
}
