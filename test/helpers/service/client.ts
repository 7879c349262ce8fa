import {
  createRequest,
  type Json,
  type Answer as Parsed,
  type RequestHeaders,
} from '../../../src/service/testing-service.ts'

export type { Json, RequestHeaders }

export interface Answer extends Parsed {
  readonly text: string
}

export interface GraphQLAnswer {
  readonly status: number
  readonly headers: Headers
  readonly data: Json
  readonly errors: readonly Json[] | undefined
  readonly text: string
}

/** Sends requests with one token, as the client of `halgraph/testing` does. */
export interface Client {
  /** `Bearer <token>`; undefined for a client without one. */
  readonly authorization: string | undefined
  get(path: string, headers?: RequestHeaders): Promise<Answer>
  head(path: string, headers?: RequestHeaders): Promise<Answer>
  options(path: string, headers?: RequestHeaders): Promise<Answer>
  post(path: string, body?: unknown, headers?: RequestHeaders): Promise<Answer>
  put(path: string, body?: unknown, headers?: RequestHeaders): Promise<Answer>
  patch(path: string, body?: unknown, headers?: RequestHeaders): Promise<Answer>
  delete(path: string, headers?: RequestHeaders): Promise<Answer>
  request(method: string, path: string, body?: unknown, headers?: RequestHeaders): Promise<Answer>
  /** The same client, whose requests accept these media types unless their headers say otherwise. */
  accepting(types: string): Client
  graphql(query: string, variables?: object, headers?: RequestHeaders): Promise<GraphQLAnswer>
}

/** A client of the service; `check`, if given, is shown every answer and throws where one is not as documented. */
export function createClient(
  origin: string,
  base: string,
  token: string | undefined,
  check?: (method: string, url: string, answer: Answer) => void,
  accept?: string,
): Client {
  const request = createRequest({ base }, { token, accept, check })
  return {
    authorization: token === undefined ? undefined : `Bearer ${token}`,
    request,
    get: (path, headers) => request('GET', path, undefined, headers),
    head: (path, headers) => request('HEAD', path, undefined, headers),
    options: (path, headers) => request('OPTIONS', path, undefined, headers),
    post: (path, body, headers) => request('POST', path, body, headers),
    put: (path, body, headers) => request('PUT', path, body, headers),
    patch: (path, body, headers) => request('PATCH', path, body, headers),
    delete: (path, headers) => request('DELETE', path, undefined, headers),
    accepting: (types) => createClient(origin, base, token, check, types),
    async graphql(query, variables = {}, headers = {}) {
      const answer = await request('POST', `${origin}/graphql`, { query, variables }, headers)
      const { data, errors } = answer.body ?? {}
      return { status: answer.status, headers: answer.headers, data, errors, text: answer.text }
    },
  }
}

/** Of each response on its own, or of the connection. */
export const OWN_HEADERS = ['date', 'x-request-id', 'connection', 'keep-alive']

/** A document without the cursors in its links, which say again where the page begins that they name. */
export function withoutCursors(document: Json): Json {
  return JSON.parse(JSON.stringify(document).replaceAll(/&cursor=[\w-]+/g, ''))
}
