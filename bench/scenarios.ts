/** What a load generator sends: everything that differs from one request to the next is in here. */
export interface Sent {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the origin. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** The state of one connection, which sends one request at a time. */
export interface Connection {
  readonly number: number
  /** Counts the requests of this connection. */
  count: number
  /** The entity tag of the last answer. */
  entityTag: string | undefined
}

export interface Scenario {
  readonly name: string
  readonly title: string
  /** The status of every good answer. */
  readonly status: number
  /** Whether it leaves rows behind that have to go before the next one. */
  readonly writes?: true
  /** Whether it deletes the rows of `addDoomed`. */
  readonly deletes?: true
  /** If not as many as for the others. */
  readonly connections?: number
  /** A request that is sent once by each connection, so that it knows an entity tag. */
  readonly first?: (connection: Connection) => Sent
  readonly next: (connection: Connection, rows: number) => Sent
}

const COLLECTION = '/api/v1/species'

/** The identifier of a row of the seed, 1-based. */
export function seedId(number: number): string {
  return `seed-${String(number).padStart(8, '0')}`
}

function anyId(rows: number): string {
  return seedId(1 + Math.floor(Math.random() * rows))
}

const readOne = (_: Connection, rows: number): Sent => ({
  method: 'GET',
  path: `${COLLECTION}/${anyId(rows)}`,
})

const create = ({ number, count }: Connection): Sent => ({
  method: 'POST',
  path: COLLECTION,
  body: species(`Novus ${process.pid} ${Date.now().toString(36)} ${number} ${count}`, count),
})

/** The row that a connection has to itself. */
const ownPath = ({ number }: Connection) => `${COLLECTION}/${seedId(100 + number)}`

export const scenarios: readonly Scenario[] = [
  { name: 'one', title: 'GET one', status: 200, next: readOne },
  { name: 'alone', title: 'GET one, 1 connection', status: 200, connections: 1, next: readOne },
  {
    name: 'not-modified',
    title: 'GET one, 304',
    status: 304,
    first: (connection) => ({ method: 'GET', path: ownPath(connection) }),
    next: (connection) => ({
      method: 'GET',
      path: ownPath(connection),
      headers: { 'If-None-Match': connection.entityTag ?? '' },
    }),
  },
  {
    name: 'list',
    title: 'list of 20',
    status: 200,
    next: ({ count }) => ({ method: 'GET', path: `${COLLECTION}?page=${1 + (count % 10)}&limit=20` }),
  },
  {
    name: 'pages',
    title: 'page by random number',
    status: 200,
    next: (_, rows) => ({
      method: 'GET',
      path: `${COLLECTION}?page=${1 + Math.floor((Math.random() * rows) / 20)}&limit=20`,
    }),
  },
  {
    name: 'first',
    title: 'first page of 20',
    status: 200,
    next: () => ({ method: 'GET', path: COLLECTION }),
  },
  {
    name: 'filtered',
    title: 'filtered and sorted list',
    status: 200,
    next: ({ count }) => ({
      method: 'GET',
      path: `${COLLECTION}?page=${1 + (count % 10)}&limit=20&sort=scientific_name:asc&filter=habitat:habitat-${count % 50}`,
    }),
  },
  {
    name: 'dashboard',
    title: 'GraphQL dashboard',
    status: 200,
    next: () => ({ method: 'POST', path: '/graphql', body: { query: DASHBOARD } }),
  },
  {
    name: 'mixed',
    title: 'mixed, 90 % reads',
    status: 200,
    writes: true,
    next: (connection, rows) => {
      if (connection.count % 10 === 9) return create(connection)
      if (connection.count % 10 >= 6) return { method: 'GET', path: `${COLLECTION}?page=1&limit=20` }
      return readOne(connection, rows)
    },
  },
  { name: 'post', title: 'POST', status: 201, writes: true, next: create },
  {
    name: 'put',
    title: 'PUT',
    status: 204,
    next: ({ number, count }, rows) => {
      const row = 1 + ((number * 997 + count * 16) % rows)
      return {
        method: 'PUT',
        path: `${COLLECTION}/${seedId(row)}`,
        body: species(`Species ${row}`, changing()),
      }
    },
  },
  {
    name: 'patch',
    title: 'PATCH with If-Match',
    status: 204,
    first: (connection) => ({ method: 'GET', path: ownPath(connection) }),
    next: (connection) => ({
      method: 'PATCH',
      path: ownPath(connection),
      headers: { 'If-Match': connection.entityTag ?? '' },
      body: { common_name: `name ${changing()}` },
    }),
  },
  {
    name: 'delete',
    title: 'DELETE',
    status: 204,
    writes: true,
    deletes: true,
    next: ({ number, count }) => ({ method: 'DELETE', path: `${COLLECTION}/doomed-${number}-${count}` }),
  },
  {
    name: 'batch',
    title: 'batch of 5 POSTs and 5 PATCHes',
    status: 200,
    writes: true,
    next: (connection, rows) => {
      const { number, count } = connection
      const creations = FIVE.map((n) => {
        const { method, body } = create({ ...connection, count: count * 5 + n })
        return { method, path: '/species', body }
      })
      const patches = FIVE.map((n) => {
        const path = `/species/${seedId(1 + ((number * 997 + count * 5 + n) % rows))}`
        return { method: 'PATCH', path, body: { common_name: `name ${changing()}` } }
      })
      return { method: 'POST', path: '/api/v1/batch', body: { operations: [...creations, ...patches] } }
    },
  },
]

const DASHBOARD = `{
  newest: speciesPage(limit: 10, sort: [{ field: DISCOVERED_DATE, direction: DESC }]) {
    totalCount items { id scientificName habitat planet { id name hostStar } }
  }
  planets: planetPage(limit: 5) { totalCount items { id name habitable } }
}`

const FIVE = [0, 1, 2, 3, 4]

let changes = Date.now()

/** A number that none of the requests before has had, in this round or in others: each write is to change something. */
function changing(): number {
  return ++changes
}

/** A whole body; the number makes it differ. */
function species(name: string, number: number): object {
  return {
    scientific_name: name,
    common_name: `Common ${number}`,
    classification: { kingdom: 'Animalia', class: 'Mammalia', phylum: 'Chordata' },
    habitat: `habitat-${number % 50}`,
    planet_origin: `planet-${1 + (number % 500)}`,
    temperature_range: { min_celsius: -10.5, max_celsius: 40 },
    bioluminescent: number % 2 === 0,
    intelligence_level: 'sentient',
  }
}

/** A request as it goes over the wire, with headers that all requests share. */
export function written({ method, path, headers = {}, body }: Sent, shared: string): string {
  const own = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  if (body === undefined) return `${method} ${path} HTTP/1.1\r\n${shared}${own.join('')}\r\n`
  const text = JSON.stringify(body)
  const described = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`
  return `${method} ${path} HTTP/1.1\r\n${shared}${described}${own.join('')}\r\n${text}`
}
