import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import type { Owner } from '../database/database.ts'

/** A span, and the attributes of the service that sent it, as texts. */
export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly name: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly resource: Readonly<Record<string, unknown>>
}

type Attributes = readonly { key: string; value: Record<string, unknown> }[]

/** What an OpenTelemetry collector is sent, at an endpoint of its own. */
export async function startCollector(owner: Owner) {
  const spans: CollectedSpan[] = []
  const server = createServer(async (request, response) => {
    if (request.url !== '/v1/traces') {
      response.writeHead(404).end()
      return
    }
    const bytes = Buffer.concat(await request.toArray())
    const text = request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes
    for (const { resource, scopeSpans } of JSON.parse(text.toString()).resourceSpans) {
      for (const span of scopeSpans.flatMap((scope: { spans: unknown[] }) => scope.spans)) {
        const attributes = valuesOf(span.attributes)
        spans.push({ ...span, attributes, resource: valuesOf(resource.attributes) })
      }
    }
    response.end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  owner.teardown(async () => {
    server.closeAllConnections()
    server.close()
  })
  return { spans, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

function valuesOf(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}
