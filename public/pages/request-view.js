import { codeBlock } from './elements.js'

/**
 * Shows the JSON of the response, the request as a curl command, and the GraphQL operation.
 *
 * @param {string} url
 * @param {import('./session.js').Answer} answer
 * @returns {HTMLElement[]}
 */
export function requestView(url, { body, text, operation }) {
  const json = body === undefined ? text : JSON.stringify(body, null, 2)
  return [
    codeBlock('JSON', json),
    codeBlock('curl', `curl -H "Authorization: Bearer $TOKEN" ${quoted(url)}`),
    ...(operation
      ? [
          codeBlock(
            'GraphQL',
            `${operation.query}\n\n# variables\n${JSON.stringify(operation.variables, null, 2)}`,
          ),
        ]
      : []),
  ]
}

/** @param {string} text */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`
}
