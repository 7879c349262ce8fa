// Programs of tools that need no generated client. Each checks what the tool makes of responses.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, request as upstream } from 'node:http'
import { headers, listen, origin, token } from './service.mjs'

const list = '/planets?limit=1&sort=name:desc&filter=host_star:Client'
const body = { name: `Other ${Date.now()}`, host_star: 'Other' }

const create = () =>
  fetch(`${origin}/api/v1/planets`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })

/** Passes requests on, and remembers them. It ends streams after a second. */
async function recorded() {
  const seen = []
  const server = createServer((request, response) => {
    seen.push(request)
    const { method, url } = request
    const sent = upstream(origin + url, { method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers)
      answer.pipe(response)
      if (url.includes('/changes')) setTimeout(() => response.destroy(), 1000)
    })
    request.pipe(sent)
  })
  return { seen, base: `${await listen(server)}/api/v1` }
}

/** The status of a request through another program. */
async function status(address, accept, method, values, type = 'application/json') {
  const sent = values && { body: JSON.stringify(values) }
  const all = { ...headers, Accept: accept, ...(values && { 'Content-Type': type }) }
  return (await fetch(address, { method, headers: all, ...sent })).status
}

/** Starts Prism, and returns where it serves the API. */
function prism(...parameters) {
  const child = spawn('node_modules/.bin/prism', [...parameters, '-p', '0'])
  process.on('exit', () => child.kill())
  return new Promise((resolve) => {
    child.stdout.on('data', (line) => {
      const [, at] = /listening on (\S+)/.exec(line) ?? []
      if (at) resolve(`${at}/api/v1`)
    })
  })
}

export const others = {
  async 'express-openapi-validator'() {
    const { default: express } = await import('express')
    const { middleware } = await import('express-openapi-validator')
    const app = express()
    app.use(express.json({ type: ['application/json', 'application/merge-patch+json'] }))
    app.use(middleware({ apiSpec: 'complete.json', validateResponses: true }))
    app.use(async ({ method, originalUrl, headers: sent, body: values }, response) => {
      const { authorization, accept, 'content-type': type } = sent
      const content = values && { body: JSON.stringify(values) }
      const passed = { authorization, accept, ...(type && { 'content-type': type }) }
      const answer = await fetch(origin + originalUrl, { method, headers: passed, ...content })
      const [kind, text] = [answer.headers.get('content-type'), await answer.text()]
      response.status(answer.status).set('etag', answer.headers.get('etag') ?? '')
      if (kind?.includes('json')) response.set('content-type', kind).json(JSON.parse(text))
      else response.set('content-type', kind ?? '').send(text)
    })
    app.use((error, _, response, __) => response.status(error.status).json({ refused: error.errors }))
    const at = `${await listen(createServer(app))}/api/v1/planets`
    for (const accept of ['application/json', 'application/hal+json', 'text/csv'])
      assert.equal(await status(`${at}?limit=1&sort=name%3Adesc`, accept), 200)
    assert.equal(await status(`${at}?sort=name:desc`, 'application/json'), 400)
    const patch = ['PATCH', { host_star: 'Client' }, 'application/merge-patch+json']
    assert.equal(await status(`${at}/client-a`, 'application/json', ...patch), 204)
    assert.equal(await status(at, 'application/json', 'POST', { name: 7 }), 400)
  },

  async '@stoplight/prism-cli'() {
    const mock = await prism('mock', 'openapi.json')
    assert.equal(await status(mock + list, 'application/json'), 200)
    assert.equal(await status(`${mock}/planets`, 'application/json', 'POST', { name: 7 }), 422)
    const proxy = await prism('proxy', 'complete.json', origin, '--errors', '--no-validate-request')
    for (const accept of ['application/json', 'application/hal+json', 'text/csv'])
      assert.equal(await status(proxy + list, accept), 200)
    assert.equal(await status(`${proxy}/planets`, 'application/json', 'POST', { name: 7 }), 400)
    assert.equal(await status(`${proxy}/planets/none`, 'application/json'), 404)
    assert.equal(await status(`${proxy}/planets/none`, 'application/problem+json'), 500)
  },

  async 'openapi-mcp-generator'() {
    const { getToolsFromOpenApi } = await import('openapi-mcp-generator')
    const tools = await getToolsFromOpenApi('openapi.json', { dereference: true })
    const { description } = tools.find(({ operationId }) => operationId === 'listPlanets')
    assert.equal(description, 'List the planets. Requires the scope `planets:read`.')
  },

  async ketting() {
    const { Client, bearerAuth } = await import('ketting')
    const { seen, base } = await recorded()
    const client = new Client(base)
    client.use(bearerAuth(token))
    const planets = await client.follow('planets')
    const page = await client.go(base + list).get()
    assert.equal(page.getEmbedded()[0].data.name, 'Client, b')
    const resource = await planets.postFollow({ data: body })
    const { data, headers: received } = await resource.get()
    await resource.put({ data, headers: { 'If-Match': received.get('ETag') } })
    assert.ok(seen.at(-1).headers['if-match'])
    await resource.put(await resource.get())
    assert.equal(seen.at(-1).headers['if-match'], undefined)
  },

  async 'parse-link-header'() {
    const { default: parse } = await import('parse-link-header')
    const options = { headers: { ...headers, Accept: 'text/csv' } }
    const answer = await fetch(`${origin}/api/v1${list.replace('desc&', 'desc,id:asc&')}`, options)
    const { url, page } = parse(answer.headers.get('link')).next
    assert.equal(page, '2')
    assert.match(await (await fetch(url, options)).text(), /Client, a/)
  },

  async 'event-source-polyfill'() {
    const { EventSourcePolyfill } = await import('event-source-polyfill')
    const { seen, base } = await recorded()
    process.on('unhandledRejection', () => {})
    const options = { headers, lastEventIdQueryParameterName: 'since' }
    const source = new EventSourcePolyfill(`${base}/changes?collection=planets&since=now`, options)
    const next = (type) => new Promise((resolve) => source.addEventListener(type, resolve))
    await next('position')
    await next('error')
    await next('open')
    assert.match(seen.at(-1).url, /since=(?!now)/)
    const created = next('created')
    await create()
    assert.equal(JSON.parse((await created).data).resource.name, body.name)
    source.close()
  },

  async '@microsoft/fetch-event-source'() {
    const listen = { addEventListener() {}, removeEventListener() {} }
    Object.assign(globalThis, { window: globalThis, document: { hidden: false, ...listen } })
    const { fetchEventSource } = await import('@microsoft/fetch-event-source')
    const seen = []
    await new Promise((resolve, reject) => {
      const onmessage = ({ event, data }) => {
        seen.push([event, JSON.parse(data).resource?.name])
        if (event === 'position') create()
        else resolve()
      }
      const onerror = (error) => reject(error)
      fetchEventSource(`${origin}/api/v1/changes?since=now`, { headers, fetch, onmessage, onerror })
    })
    assert.deepEqual(seen, [
      ['position', undefined],
      ['created', body.name],
    ])
  },

  async papaparse() {
    const { default: Papa } = await import('papaparse')
    const answer = await fetch(`${origin}/api/v1${list}`, { headers: { ...headers, Accept: 'text/csv' } })
    const { data, meta } = Papa.parse(await answer.text(), { header: true, dynamicTyping: true })
    assert.deepEqual([data[0].name, data[0].discovery_year, data[0].habitable], ['Client, b', 2001, null])
    assert.ok(meta.fields.includes('habitable'))
    assert.equal(answer.headers.get('x-total-count'), '2')
  },

  async 'vega-lite'() {
    const [{ loader, parse, View }, { compile }] = await Promise.all([import('vega'), import('vega-lite')])
    const format = { type: 'json', property: '_embedded.planets' }
    const { spec } = compile({
      data: { url: `${origin}/api/v1/planets?limit=100&filter=host_star:Client`, format },
      mark: 'bar',
      encoding: { x: { field: 'discovery_year', type: 'ordinal' }, y: { aggregate: 'count' } },
    })
    const view = new View(parse(spec), { renderer: 'none', loader: loader({ http: { headers } }) })
    await view.runAsync()
    assert.match(await view.toSVG(), /discovery_year: 2001; Count of Records: 2/)
  },

  'relay-compiler'() {
    mkdirSync('relay/src', { recursive: true })
    const fields = '{ edges { node { scientificName } } }'
    const parameters = '@argumentDefinitions(n: { type: "Int" }, after: { type: "String" })'
    writeFileSync(
      'relay/src/page.js',
      `import { graphql } from 'relay-runtime'
      graphql\`query pageQuery($sort: [SpeciesSort!]) { speciesConnection(first: 3, sort: $sort) ${fields} }\`
      graphql\`fragment page_list on Query @refetchable(queryName: "pageListQuery") ${parameters} {
        speciesConnection(first: $n, after: $after) @connection(key: "page_speciesConnection") ${fields} }\``,
    )
    writeFileSync('relay/schema.graphql', readFileSync('schema.graphql'))
    const schemaConfig = { nodeInterfaceIdField: 'nodeId', nodeInterfaceIdVariableName: 'nodeId' }
    const options = { src: './src', schema: './schema.graphql', language: 'javascript', schemaConfig }
    writeFileSync('relay/relay.config.json', JSON.stringify(options))
    execFileSync('node', ['../node_modules/relay-compiler/cli.js'], { cwd: 'relay', stdio: 'ignore' })
    assert.match(readFileSync('relay/src/__generated__/pageListQuery.graphql.js', 'utf8'), /nodeId/)
  },

  async '@tanstack/query-core'() {
    const { QueryClient } = await import('@tanstack/query-core')
    const { pages } = await new QueryClient().fetchInfiniteQuery({
      queryKey: ['planets'],
      queryFn: async ({ pageParam }) => (await fetch(pageParam, { headers })).json(),
      initialPageParam: `${origin}/api/v1${list}`,
      getNextPageParam: ({ _links }) => _links.next?.href,
      pages: 9,
    })
    const names = pages.map(({ _embedded }) => _embedded.planets[0].name)
    assert.deepEqual(names, ['Client, b', 'Client, a'])
  },

  async 'node-red'() {
    const { default: RED } = await import('node-red')
    const page = { id: 'page', z: 'flow', type: 'http in', url: '/page', method: 'get', wires: [['ask']] }
    const options = { method: 'GET', ret: 'obj', url: `${origin}/api/v1${list}`, authType: 'bearer' }
    const ask = { id: 'ask', z: 'flow', type: 'http request', ...options, wires: [['answer']] }
    const flow = [{ id: 'flow', type: 'tab' }, page, ask, { id: 'answer', z: 'flow', type: 'http response' }]
    mkdirSync('red', { recursive: true })
    writeFileSync('red/flows.json', JSON.stringify(flow))
    writeFileSync('red/flows_cred.json', JSON.stringify({ ask: { password: token } }))
    const server = createServer((request, response) => RED.httpNode(request, response))
    const settings = { userDir: 'red', flowFile: 'flows.json', credentialSecret: false }
    RED.init(server, { ...settings, httpAdminRoot: false })
    const started = new Promise((resolve) => RED.events.once('flows:started', resolve))
    await RED.start()
    await started
    const answer = await (await fetch(`${await listen(server)}/page`)).json()
    assert.equal(answer._embedded.planets[0].name, 'Client, b')
  },
}
