/** The token is kept for this tab alone, and forgotten when it is closed. The GraphQL explorer shares it. */
const KEY = 'halgraph.token'

/** @returns {string} the token of this session, empty where there is none */
export function token() {
  return sessionStorage.getItem(KEY) ?? ''
}

/** @param {string} value the token alone, or a whole `Bearer <token>` */
export function keepToken(value) {
  const text = value.trim().replace(/^Bearer\s+/i, '')
  if (text === '') sessionStorage.removeItem(KEY)
  else sessionStorage.setItem(KEY, text)
}

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {string} text the body as it was sent
 * @property {any} body the same, parsed; undefined where it is not JSON
 * @property {{ query: string, variables: object } | undefined} operation the GraphQL operation behind it
 */

/**
 * Asks for what this page is about, as any other client would.
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
