import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { createApp } from '../../src/http/app.ts'
import { type Route, reads } from '../../src/http/routes.ts'
import { DomainError } from '../../src/model/errors.ts'

const routeAt = (path: string): Route => ({
  path,
  access: 'token',
  methods: reads({
    handle: (ctx) => {
      ctx.body = 'here'
    },
  }),
})

/** An application whose paths below /old have a header of their own. */
async function serve(t: ExecutionContext, isFull: boolean) {
  const app = createApp({
    routes: ['/old/a', '/new/a', '/old/:name/only'].map(routeAt),
    settings: {
      publicBaseUrl: undefined,
      trustProxy: false,
      serverTiming: false,
      compression: false,
    },
    authenticate: (ctx, next) => {
      ctx.state['caller'] = { identity: 'one', scopes: new Set(), subject: undefined, claims: {} }
      return next()
    },
    reportFault: (error) => t.fail(String(error)),
    reports: [],
    middleware: [
      (_, next) => {
        if (isFull) throw new DomainError('SERVICE_UNAVAILABLE', 'Too much.')
        return next()
      },
    ],
    setPathHeaders: (ctx, hasRoute) => {
      if (!ctx.path.startsWith('/old/')) return
      ctx.set('Successor', String(hasRoute(ctx.path.replace('/old', '/new'))))
    },
  })
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return async (path: string) => {
    const { status, headers } = await fetch(`http://127.0.0.1:${port}${path}`)
    return [status, headers.get('successor')]
  }
}

test('every response at a path has its headers, and they can depend on the routes', async (t) => {
  const ask = await serve(t, false)
  t.deepEqual(await ask('/old/a'), [200, 'true'])
  t.deepEqual(await ask('/old/b/only'), [200, 'false'])
  t.deepEqual(await ask('/old/nothing'), [404, 'false'])
  t.deepEqual(await ask('/new/a'), [200, null])
})

test('refusals without capacity have the headers of their path, and no others', async (t) => {
  const ask = await serve(t, true)
  for (let round = 0; round < 3; round++) {
    t.deepEqual(await ask('/old/a'), [503, 'true'])
    t.deepEqual(await ask('/new/a'), [503, null])
  }
})
