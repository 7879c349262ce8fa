import Router from '@koa/router'
import Koa from 'koa'
import jwt from 'koa-jwt'
import getRawBody from 'raw-body'
import { created, entityTag, failure, listed, listQuery, type SpeciesRow, shown } from './species.ts'
import { create, patch, Refusal, readList, readOne, replace } from './store.ts'

// Koa and Prisma, written by hand for the one resource.

const app = new Koa()
const router = new Router({ prefix: '/api/v1' })

app.use(async (ctx, next) => {
  try {
    await next()
  } catch (error) {
    const { status } = error as { status?: number }
    if (error instanceof Refusal) {
      ctx.status = error.status
      ctx.body = error.body
    } else if (status === 401) {
      ctx.status = 401
      ctx.set('WWW-Authenticate', 'Bearer')
      ctx.body = failure('AUTHENTICATION_REQUIRED', 'Send an access token.')
    } else {
      console.error(error)
      ctx.status = 500
      ctx.body = failure('INTERNAL_ERROR', 'Internal error.')
    }
  }
})
app.use(jwt({ secret: process.env['JWT_SECRET'] as string, algorithms: ['HS256'] }))
app.use(async (ctx, next) => {
  const { scope } = ctx.state['user'] as { scope: string }
  const needed = ctx.method === 'GET' ? '*:read' : '*:write'
  if (!scope.split(' ').includes(needed)) throw new Refusal(403, 'ACCESS_DENIED', `This needs ${needed}.`)
  await next()
})

const baseOf = (ctx: Koa.Context) => `${ctx.protocol}://${ctx.host}/api/v1`
const idOf = (ctx: Koa.Context) => ctx['params'].id as string
const bodyOf = async (ctx: Koa.Context) =>
  JSON.parse(await getRawBody(ctx.req, { encoding: 'utf8', limit: '1mb' }))

function describe(ctx: Koa.Context, row: SpeciesRow): void {
  ctx.set('ETag', entityTag(row))
  ctx.set('Last-Modified', row.last_updated.toUTCString())
}

router.get('/species/:id', async (ctx) => {
  const row = await readOne(idOf(ctx))
  describe(ctx, row)
  if (ctx.get('If-None-Match') === entityTag(row)) ctx.status = 304
  else ctx.body = shown(row, baseOf(ctx))
})

router.get('/species', async (ctx) => {
  const query = listQuery(ctx.URL.searchParams)
  if (!query) throw new Refusal(400, 'INVALID_QUERY_PARAMETER', 'The query is not valid.')
  const [total, rows] = await readList(query)
  ctx.body = listed(rows, total, query, baseOf(ctx))
})

router.post('/species', async (ctx) => {
  const row = await create(await bodyOf(ctx))
  describe(ctx, row)
  ctx.status = 201
  ctx.set('Location', `${baseOf(ctx)}/species/${row.id}`)
  ctx.body = created(row, baseOf(ctx))
})

router.put('/species/:id', async (ctx) => {
  describe(ctx, await replace(idOf(ctx), await bodyOf(ctx), ctx.headers['if-match']))
  ctx.status = 204
})

router.patch('/species/:id', async (ctx) => {
  describe(ctx, await patch(idOf(ctx), await bodyOf(ctx), ctx.headers['if-match']))
  ctx.status = 204
})

app.use(router.routes())
app.listen(Number(process.env['PORT']), '127.0.0.1')
