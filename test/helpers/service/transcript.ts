import { readFileSync, writeFileSync } from 'node:fs'
import type { ExecutionContext } from 'ava'
import { type Answer, type Client, OWN_HEADERS } from './client.ts'
import type { TestService } from './service.ts'
import { createPageLines, unusualHeaders } from './usual.ts'

/** They are numbered, in the order in which they appear. */
export const GENERATED = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

const isTranscribing = process.env['TRANSCRIBE'] === '1'

/**
 * Claims that each request of a file, sent in turn to a service without resources of its collections, gets the whole response
 * that is written there.
 */
export async function claimTranscript(
  t: ExecutionContext,
  service: TestService,
  file: string,
): Promise<void> {
  const common = await service.anonymous.get(`${service.origin}/health/live`)
  const linesOf = createResponseLines(headersOf(common), service)
  const numbered = createNumbering()
  await claimResults(t, file, async (request) => linesOf(request, await send(service, request)).map(numbered))
}

/** Replaces generated identifiers by numbers, which stay the same in all lines that are given to the function. */
export function createNumbering(): (line: string) => string {
  const identifiers: string[] = []
  const numberOf = (identifier: string) => {
    if (!identifiers.includes(identifier)) identifiers.push(identifier)
    return `(uuid ${identifiers.indexOf(identifier) + 1})`
  }
  return (line) => line.replace(GENERATED, numberOf)
}

/**
 * Claims that each group of actions in a file (`>`) has the result that is written after them (`<`). Lines with `#` are
 * comments. After an intended change, TRANSCRIBE=1 writes the results anew: read the difference before you commit it.
 *
 * @param resultOf makes the lines of the result from the actions, without their `>`; `isExpected` tells whether they are
 *   those of the file, or will be
 */
export async function claimResults(
  t: ExecutionContext,
  file: string,
  resultOf: (
    actions: readonly string[],
    isExpected: (result: readonly string[]) => boolean,
  ) => Promise<readonly string[]>,
): Promise<void> {
  const transcribed: string[] = []
  for (const group of readFileSync(file, 'utf8').trim().split('\n\n')) {
    const given = group.split('\n').filter((line) => !line.startsWith('<'))
    const actions = given.filter((line) => line.startsWith('>')).map((line) => line.slice(2))
    const withResult = (result: readonly string[]) =>
      [...given, ...result.map((line) => `< ${line}`.trimEnd())].join('\n')
    const isExpected = (result: readonly string[]) => isTranscribing || withResult(result) === group
    const actual = withResult(await resultOf(actions, isExpected))
    transcribed.push(actual)
    if (!isTranscribing) t.is(actual, group)
  }
  if (isTranscribing) writeFileSync(file, `${transcribed.join('\n\n')}\n`)
  t.true(transcribed.length > 0)
}

/**
 * @param lines `client METHOD path body`, then headers, and a body of several lines. The client is a role, or a subject, or has
 *   scopes: `*:read,species:private`.
 */
export function send(service: TestService, lines: readonly string[]): Promise<Answer> {
  const { client, method, path, headers, body } = parsed(lines)
  // Whether a response is compressed depends on its length, which varies.
  const all = { 'accept-encoding': 'identity', ...headers }
  return clientOf(service, client).request(method, service.origin + path, body || undefined, all)
}

function parsed([first = '', ...others]: readonly string[]) {
  const [client, method = '', path = '', ...content] = first.split(' ')
  const headers = others.filter((line) => HEADER.test(line)).map((line) => line.split(': '))
  const body = [content.join(' '), ...others.filter((line) => !HEADER.test(line))]
    .join('\n')
    .replace(/^\n/, '')
  return { client, method, path, headers: Object.fromEntries(headers) as Record<string, string>, body }
}

export function clientOf(service: TestService, name = ''): Client {
  if (name === 'anonymous' || name === 'reader' || name === 'writer') return service[name]
  return name.includes(':') ? service.withScope(name.replaceAll(',', ' ')) : service.withSubject(name)
}

const HEADER = /^[A-Za-z-]+: /

/** Lengths vary with ports and cursors. */
const VARYING_HEADERS = [...OWN_HEADERS, 'content-length']

const headersOf = ({ headers }: Answer) =>
  Object.fromEntries([...headers].filter(([name]) => !VARYING_HEADERS.includes(name)))

/** The status, the headers that are not usual, and the body. */
function createResponseLines(common: Readonly<Record<string, string>>, { origin }: TestService) {
  const { host } = new URL(origin)
  const plain = (text: string) => withoutDigests(withoutChance(text.replaceAll(host, 'host')))
  const pageLines = createPageLines()
  return (request: readonly string[], answer: Answer): string[] => {
    const { method, path, headers: sent } = parsed(request)
    const headers = Object.entries(headersOf(answer)).map(([name, value]) => [name, plain(value)])
    const exchange = {
      method,
      path,
      hasPreference: 'Prefer' in sent,
      status: answer.status,
      headers: Object.fromEntries(headers) as Record<string, string>,
      text: plain(answer.text),
    }
    const isPage = answer.headers.get('content-type')?.startsWith('text/html')
    const body = isPage ? pageLines(exchange.text, path) : exchange.text.split('\n')
    const shown = unusualHeaders(exchange, common)
    return withStatus(answer.status, [...shown, ...body.filter((line) => line !== '')])
  }
}

/** One line if there is one besides the status. */
export const withStatus = (status: number, lines: readonly string[]) =>
  lines.length === 1 ? [`${status} ${lines[0]}`] : [`${status}`, ...lines]

const TIMESTAMP =
  /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT/g
const HOUR_MILLISECONDS = 3_600_000

/** Replaces what differs from run to run, except for generated identifiers. */
export function withoutChance(text: string): string {
  const isNow = (time: string) => Math.abs(Date.parse(time) - Date.now()) < HOUR_MILLISECONDS
  return text
    .replace(TIMESTAMP, (time) => (isNow(time) ? '(now)' : time))
    .replace(/(cursor=|since=|"\w*[cC]ursor":")[\w-]+/g, '$1(cursor)')
    .replace(/sha256 token [\w+/]+=/g, 'sha256 token (digest)')
    .replace(/W\/"[\w-]+\.\w+/g, 'W/"(revision)')
}

export function withoutDigests(text: string): string {
  return text.replace(/([":])(?![A-Z_]+")[\w-]{22}(?:[\w-]{21})?(?=[":])/g, '$1(digest)')
}
