// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
export type Json = any

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The parsed JSON, undefined where there is none. */
  readonly body: Json
  readonly text: string
}

export interface GraphQLAnswer {
  readonly status: number
  readonly headers: Headers
  readonly data: Json
  readonly errors: readonly Json[] | undefined
  readonly text: string
}

export type RequestHeaders = Readonly<Record<string, string>>

/**
 * Sends requests with one token. Paths are relative to the entry document, as in `/species`; an absolute
 * URL, such as the href of a link, is taken as it is. A body that is text or bytes is sent as it stands,
 * anything else as JSON; its type is `application/json` unless the headers say otherwise.
 */
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
  const authorization = token === undefined ? undefined : `Bearer ${token}`

  async function request(
    method: string,
    path: string,
    body?: unknown,
    headers: RequestHeaders = {},
  ): Promise<Answer> {
    const all = new Headers({
      ...(authorization !== undefined && { authorization }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(accept !== undefined && { accept }),
    })
    for (const [name, value] of Object.entries(headers)) all.set(name, value)
    const url = path.startsWith('http') ? path : base + path
    const send = () =>
      fetch(url, {
        method,
        headers: all,
        redirect: 'manual',
        ...(body !== undefined && { body: isRaw(body) ? body : JSON.stringify(body) }),
      })
    let response = await send()
    // The process stood still for seconds, and the service never read the request (RFC 9110 §15.5.9).
    if (response.status === 408) response = await send()
    const text = await response.text()
    const { status, headers: received } = response
    const answer = { status, headers: received, text, body: parsed(response, text) }
    check?.(method, url, answer)
    return answer
  }

  return {
    authorization,
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

function isRaw(body: unknown): body is string | Uint8Array<ArrayBuffer> {
  return typeof body === 'string' || body instanceof Uint8Array
}

function parsed(response: Response, text: string): Json {
  const isJson = /^application\/(?:[a-z.-]+\+)?json\b/.test(response.headers.get('content-type') ?? '')
  return isJson && text !== '' ? JSON.parse(text) : undefined
}

/** Of each response on its own, or of the connection. */
export const OWN_HEADERS = ['date', 'x-request-id', 'connection', 'keep-alive']

/** A document without the cursors in its links, which say again where the page begins that they name. */
export function withoutCursors(document: Json): Json {
  return JSON.parse(JSON.stringify(document).replaceAll(/&cursor=[\w-]+/g, ''))
}
