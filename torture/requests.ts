import type { Sent } from '../test/helpers/load/load.ts'
import { processToken } from '../test/helpers/service/service-process.ts'

export const TOKEN = processToken('hostile')
export const headers = { authorization: `Bearer ${TOKEN}` }

export const graphql = (query: string, variables?: object): Sent => ({
  method: 'POST',
  path: '/graphql',
  body: { query, ...(variables && { variables }) },
  headers,
})

export const get = (path: string, more?: Record<string, string>): Sent => ({
  method: 'GET',
  path: `/api/v1/${path}`,
  headers: { ...headers, ...more },
})
export const post = (body: object): Sent => ({ method: 'POST', path: '/api/v1/species', body, headers })
