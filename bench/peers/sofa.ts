import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { GraphQLSchema } from 'graphql'
import jwt from 'jsonwebtoken'
import { useSofa } from 'sofa-api'
import { openDatabase } from '../../src/database/database.ts'
import { sessionsOf } from '../../src/domain/session/session.ts'
import { UNLIMITED } from '../../src/domain/session/slot.ts'
import { createSchema } from '../../src/graph/schema/schema.ts'
import { unrestricted } from '../../src/model/access/access.ts'
import { databaseOptions, loadConfiguration } from '../../src/service/settings/configuration.ts'
import { entityTag, failure, listed, type SpeciesRow, shown } from './species.ts'

// SOFA makes REST of the GraphQL schema of the service; what it answers with is put into HAL by hand. It
// has neither conditional writes nor statuses by outcome, and so is compared by what it can read.

const configuration = await loadConfiguration()
const database = await openDatabase(databaseOptions(configuration))
const openSession = sessionsOf({
  ...configuration.settings,
  client: database.client,
  resources: configuration.domain.resources,
  readers: undefined,
  accessOf: () => unrestricted('no definition has rules'),
  written() {},
})
const sofa = useSofa({
  basePath: '/sofa',
  schema: createSchema(configuration.domain.resources) as GraphQLSchema,
  context: ({ request }: { request: Request }) => {
    const claims = jwt.verify(
      (request.headers.get('authorization') ?? '').slice('Bearer '.length),
      process.env['JWT_SECRET'] as string,
      { algorithms: ['HS256'] },
    ) as jwt.JwtPayload
    const scopes = new Set<string>(claims['scope'].split(' '))
    const caller = { identity: 'bench', scopes, subject: 'bench', claims }
    return { session: openSession(caller, UNLIMITED) }
  },
})

createServer((request, response) => {
  answer(request, response).catch((error) => {
    console.error(error)
    send(response, 500, failure('INTERNAL_ERROR', 'Internal error.'))
  })
}).listen(Number(process.env['PORT']), '127.0.0.1')

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url as string, `http://${request.headers.host}`)
  const base = `${url.origin}/api/v1`
  const id = /^\/api\/v1\/species\/([^/]+)$/.exec(url.pathname)?.[1]
  if (id === undefined) {
    const page = Number(url.searchParams.get('page') ?? 1)
    const limit = Number(url.searchParams.get('limit') ?? 20)
    const data = await ask(request, `/sofa/species-page?page=${page}&limit=${limit}`)
    const rows = (data['items'] as Data[]).map(toRow)
    const query = { page, limit, sort: undefined, filter: undefined }
    return send(response, 200, listed(rows, data['totalCount'] as number, query, base))
  }
  const row = toRow(await ask(request, `/sofa/species/${id}`))
  response.setHeader('ETag', entityTag(row))
  response.setHeader('Last-Modified', row.last_updated.toUTCString())
  if (request.headers['if-none-match'] === entityTag(row)) response.writeHead(304).end()
  else send(response, 200, shown(row, base))
}

type Data = Readonly<Record<string, unknown>>

async function ask({ headers }: IncomingMessage, path: string): Promise<Data> {
  const authorization = headers.authorization ?? ''
  const response = await sofa.fetch(`http://127.0.0.1${path}`, { headers: { authorization } })
  if (response.status !== 200) throw new Error(`SOFA answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as Data
}

function toRow(data: Data): SpeciesRow {
  const value = (name: string, group = data) => (group[name] ?? null) as never
  const classification = (data['classification'] ?? {}) as Data
  const range = (data['temperatureRange'] ?? {}) as Data
  return {
    id: value('id'),
    scientific_name: value('scientificName'),
    common_name: value('commonName'),
    classification_kingdom: value('kingdom', classification),
    classification_class: value('class', classification),
    classification_phylum: value('phylum', classification),
    habitat: value('habitat'),
    planet_origin: value('planetOrigin'),
    planet_id: value('planetId'),
    temperature_range_min_celsius: value('minCelsius', range),
    temperature_range_max_celsius: value('maxCelsius', range),
    bioluminescent: value('bioluminescent'),
    intelligence_level: value('intelligenceLevel'),
    discovery_status: value('discoveryStatus'),
    discovered_date: new Date(value('discoveredDate')),
    last_updated: new Date(value('lastUpdated')),
    version: value('version'),
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' }).end(text)
}
