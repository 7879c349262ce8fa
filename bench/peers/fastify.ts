import fastifyJwt from '@fastify/jwt'
import fastify from 'fastify'
import { created, entityTag, failure, listed, listQuery, type SpeciesRow, shown } from './species.ts'
import {
  create,
  type Operation,
  patch,
  Refusal,
  readList,
  readOne,
  remove,
  replace,
  runTogether,
} from './store.ts'

// Fastify and Prisma, written by hand for the one resource.

const app = fastify()
await app.register(fastifyJwt, { secret: process.env['JWT_SECRET'] as string })

app.addHook('onRequest', async (request, reply) => {
  try {
    const { scope } = await request.jwtVerify<{ scope: string }>()
    const needed = request.method === 'GET' ? '*:read' : '*:write'
    if (scope.split(' ').includes(needed)) return
    reply.code(403).send(failure('ACCESS_DENIED', `This needs the scope ${needed}.`))
  } catch {
    reply.code(401).header('WWW-Authenticate', 'Bearer')
    reply.send(failure('AUTHENTICATION_REQUIRED', 'Send an access token.'))
  }
})

app.setErrorHandler((error, _, reply) => {
  if (error instanceof Refusal) return reply.code(error.status).send(error.body)
  console.error(error)
  return reply.code(500).send(failure('INTERNAL_ERROR', 'Internal error.'))
})

type OneRequest = { Params: { id: string } }
const baseOf = (host: string) => `http://${host}/api/v1`
const tagged = (row: SpeciesRow) => ({
  ETag: entityTag(row),
  'Last-Modified': row.last_updated.toUTCString(),
})

app.get<OneRequest>('/api/v1/species/:id', async (request, reply) => {
  const row = await readOne(request.params.id)
  reply.headers(tagged(row))
  if (request.headers['if-none-match'] === entityTag(row)) return reply.code(304).send()
  return shown(row, baseOf(request.host))
})

app.get('/api/v1/species', async (request) => {
  const query = listQuery(new URLSearchParams(request.url.split('?')[1] ?? ''))
  if (!query) throw new Refusal(400, 'INVALID_QUERY_PARAMETER', 'The query is not valid.')
  const [total, rows] = await readList(query)
  return listed(rows, total, query, baseOf(request.host))
})

app.post('/api/v1/species', async (request, reply) => {
  const { status, headers, body } = creation(await create(request.body), baseOf(request.host))
  reply.code(status).headers(headers)
  return body
})

function creation(row: SpeciesRow, base: string) {
  const headers = { ...tagged(row), Location: `${base}/species/${row.id}` }
  return { status: 201, headers, body: created(row, base) }
}

app.post<{ Body: { operations: Operation[] } }>('/api/v1/batch', async (request) => {
  const { operations } = request.body
  const base = baseOf(request.host)
  const rows = await runTogether(operations)
  const results = rows.map((row, index) =>
    operations[index]?.method === 'POST' ? creation(row, base) : { status: 204, headers: tagged(row) },
  )
  return { results }
})

app.put<OneRequest>('/api/v1/species/:id', async (request, reply) => {
  const row = await replace(request.params.id, request.body, request.headers['if-match'])
  return reply.code(204).headers(tagged(row)).send()
})

app.patch<OneRequest>('/api/v1/species/:id', async (request, reply) => {
  const row = await patch(request.params.id, request.body, request.headers['if-match'])
  return reply.code(204).headers(tagged(row)).send()
})

app.delete<OneRequest>('/api/v1/species/:id', async (request, reply) => {
  await remove(request.params.id)
  return reply.code(204).send()
})

await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) })
