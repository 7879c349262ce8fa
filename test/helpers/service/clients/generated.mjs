// Each program makes the same requests by another tool that reads the OpenAPI document: a list with a sort and two filters,
// and a creation. It returns both bodies.
import { readFileSync, writeFileSync } from 'node:fs'
import { headers, origin, run, token } from './service.mjs'

const read = () => JSON.parse(readFileSync('openapi.json', 'utf8'))
const query = { limit: 1, sort: ['name:desc'], filter: ['host_star:Client', 'discovery_year[gte]:2000'] }
const body = { name: `Generated-${Date.now()}`, host_star: 'Generated' }

/** The exports of a module in TypeScript that a tool has written. */
async function written(file) {
  run('esbuild', file, '--bundle', '--platform=node', '--log-level=error', `--outfile=${file}.cjs`)
  return (await import(`${process.cwd()}/${file}.cjs`)).default
}

export const generated = {
  async orval() {
    const { generate } = await import('orval')
    await generate({ input: './openapi.json', output: { target: './orval.ts', headers: true } })
    const { listPlanets, createPlanet } = await written('orval.ts')
    const options = { baseURL: origin, headers }
    const list = await listPlanets(query, undefined, options)
    const made = await createPlanet(body, { 'Idempotency-Key': body.name }, options)
    return [list.data, made.data]
  },

  async '@hey-api/openapi-ts'() {
    run('openapi-ts', '-i', 'openapi.json', '-o', 'hey')
    const { listPlanets, createPlanet } = await written('hey/sdk.gen.ts')
    const options = { baseUrl: origin, headers, throwOnError: true }
    return [(await listPlanets({ query, ...options })).data, (await createPlanet({ body, ...options })).data]
  },

  async 'openapi-zod-client'() {
    run('openapi-zod-client', 'openapi.json', '-o', 'zod.ts', '--with-alias')
    const api = (await written('zod.ts')).createApiClient(origin, { axiosConfig: { headers } })
    return [await api.listPlanets({ queries: query }), await api.createPlanet(body)]
  },

  async 'openapi-client-axios'() {
    const { OpenAPIClientAxios } = await import('openapi-client-axios')
    const axiosConfigDefaults = { baseURL: origin, headers }
    const client = await new OpenAPIClientAxios({ definition: read(), axiosConfigDefaults }).init()
    return [(await client.listPlanets(query)).data, (await client.createPlanet(null, body)).data]
  },

  async 'swagger-client'() {
    const { default: Swagger } = await import('swagger-client')
    const client = await new Swagger({ spec: read(), authorizations: { bearer: { value: token } } })
    const { listPlanets, createPlanet } = client.apis.planets
    return [(await listPlanets(query)).body, (await createPlanet({}, { requestBody: body })).body]
  },

  async oazapfts() {
    run('oazapfts', 'openapi.json', 'oazapfts.ts')
    const { defaults, listPlanets, createPlanet } = await written('oazapfts.ts')
    Object.assign(defaults, { baseUrl: origin, headers })
    return [(await listPlanets(query)).data, (await createPlanet(body)).data]
  },

  async '@rtk-query/codegen-openapi'() {
    // By default, the values of a parameter are joined with commas: two filters would be one.
    writeFileSync(
      'empty.ts',
      `import { createApi, fetchBaseQuery } from '@reduxjs/toolkit/query'
      const pairs = (all) => Object.entries(all).flatMap(([name, value]) => [value].flat().map((one) => [name, one]))
      const baseQuery = fetchBaseQuery({
        baseUrl: '${origin}',
        prepareHeaders: (all) => all.set('Authorization', 'Bearer ${token}'),
        paramsSerializer: (all) => String(new URLSearchParams(pairs(all).filter(([, one]) => one !== undefined))),
      })
      export const emptySplitApi = createApi({ baseQuery, endpoints: () => ({}) })`,
    )
    const files = { schemaFile: './openapi.json', apiFile: './empty.ts', outputFile: './rtk.ts' }
    const options = { ...files, apiImport: 'emptySplitApi', exportName: 'api' }
    writeFileSync('rtk.json', JSON.stringify(options))
    run('rtk-query-codegen-openapi', 'rtk.json')
    const { api } = await written('rtk.ts')
    const { configureStore } = await import('@reduxjs/toolkit')
    const middleware = (all) => all().concat(api.middleware)
    const store = configureStore({ reducer: { [api.reducerPath]: api.reducer }, middleware })
    const { listPlanets, createPlanet } = api.endpoints
    const send = (request) => store.dispatch(request).unwrap()
    return [await send(listPlanets.initiate(query)), await send(createPlanet.initiate({ planetInput: body }))]
  },

  async '@kubb/plugin-client'() {
    writeFileSync(
      'kubb.config.js',
      `import { pluginClient } from '@kubb/plugin-client'
      import { pluginOas } from '@kubb/plugin-oas'
      import { pluginTs } from '@kubb/plugin-ts'
      const plugins = [pluginOas({ validate: false }), pluginTs(), pluginClient({ paramsType: 'object' })]
      export default { root: '.', input: { path: './openapi.json' }, output: { path: './kubb' }, plugins }`,
    )
    run('kubb', 'generate', '--config', 'kubb.config.js')
    const { listPlanets, createPlanet } = await written('kubb/index.ts')
    const options = { baseURL: origin, headers }
    return [await listPlanets({ params: query }, options), await createPlanet({ data: body }, options)]
  },

  async fets() {
    const { createClient } = await import('fets')
    const planets = createClient({ endpoint: origin, globalParams: { headers } })['/api/v1/planets']
    return [await (await planets.get({ query })).json(), await (await planets.post({ json: body })).json()]
  },

  /** The document has no example of these filters, so the request is another one. */
  async 'openapi-to-postmanv2'() {
    const { default: converter } = await import('openapi-to-postmanv2')
    const options = { parametersResolution: 'Example', enableOptionalParameters: false }
    const { output } = await new Promise((resolve, reject) => {
      const done = (error, made) => (error ? reject(error) : resolve(made))
      converter.convertV2({ type: 'json', data: read() }, options, done)
    })
    const requestsIn = (items) => items.flatMap(({ item, request }) => (item ? requestsIn(item) : [request]))
    const all = requestsIn(output[0].data.item)
    const send = async (summary, parameters = '') => {
      const { url, method, body: sent } = all.find(({ name }) => name === summary)
      const content = sent?.raw && { body: JSON.stringify({ ...JSON.parse(sent.raw), name: body.name }) }
      const type = { 'Content-Type': 'application/json' }
      const address = `${origin}/${url.path.join('/')}${parameters}`
      return (await fetch(address, { method, headers: { ...headers, ...type }, ...content })).json()
    }
    const list = await send('List the planets', '?limit=1&sort=name:desc&filter=host_star:Client')
    return [list, await send('Create a planet')]
  },
}
