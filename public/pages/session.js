/** The token is stored for this tab until it is closed. The GraphQL explorer uses the same key. */
const KEY = 'halgraph.token'

/** @returns {string} the token of this session, empty if there is none */
export function token() {
  return sessionStorage.getItem(KEY) ?? ''
}

/** @param {string} value the token, or `Bearer <token>` */
export function storeToken(value) {
  const text = value.trim().replace(/^Bearer\s+/i, '')
  if (text === '') sessionStorage.removeItem(KEY)
  else sessionStorage.setItem(KEY, text)
}

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {string} text the body as sent
 * @property {any} body the parsed body; undefined if it is not JSON
 * @property {{ query: string, variables: object } | undefined} operation the GraphQL operation of the request
 */

/**
 * Requests a resource as any other client does.
 *
 * @param {string} url
 * @returns {Promise<Answer>}
 */
export async function fetchAnswer(url) {
  const headers = new Headers({ Accept: 'application/json', Prefer: 'graphql-operation' })
  if (token() !== '') headers.set('Authorization', `Bearer ${token()}`)
  const response = await fetch(url, { headers, cache: 'no-store' })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('Content-Type') ?? '')
  const operation = response.headers.get('GraphQL-Operation')
  return {
    status: response.status,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : undefined,
    operation: operation ? JSON.parse(operation) : undefined,
  }
}
