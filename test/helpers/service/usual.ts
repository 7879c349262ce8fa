import { readFileSync } from 'node:fs'

/** A request and its response, without what differs from run to run. */
export interface Exchange {
  readonly method: string
  readonly path: string
  readonly hasPreference: boolean
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/**
 * The lines of a transcript for the headers that differ from what a response like that usually has; `(none)` for those that it
 * lacks.
 *
 * @param common the headers of all responses
 */
export function unusualHeaders(exchange: Exchange, common: Readonly<Record<string, string>>): string[] {
  const { link = '', ...headers } = exchange.headers
  const usual = { ...common, ...usualHeaders(exchange) }
  const names = [...new Set([...Object.keys(headers), ...Object.keys(usual)])].sort()
  const lines = names.flatMap((name) =>
    headers[name] === usual[name] ? [] : `${name}: ${headers[name] ?? '(none)'}`,
  )
  const links = link === '' ? [] : link.split(/, (?=<)/)
  const usualLinks = usualLinksOf(exchange)
  const unusualLinks = [
    ...links.filter((one) => !usualLinks.includes(one)),
    ...usualLinks.filter((one) => !links.includes(one)).map((one) => `(no ${one.split('; ')[1]})`),
  ]
  return unusualLinks.length === 0 ? lines : [...lines, `link: ${unusualLinks.join(', ')}`]
}

const READ_FROM_DATABASE = 'private, no-cache, must-revalidate'
const SELF = /"_links":\{"self":\{"href":"([^"]+)"/
const TAG_OF_RESOURCE = /^"[^"]+:\d+(?::[^"]+)?"$/

function usualHeaders(exchange: Exchange): Record<string, string | undefined> {
  const { method, hasPreference, status, headers, text } = exchange
  const isList = 'x-total-count' in headers
  const isTagged = TAG_OF_RESOURCE.test(headers['etag'] ?? '')
  const isRead = isReadOf(exchange) && 'etag' in headers
  const [, created] = (status === 201 && SELF.exec(text)) || []
  const [, id] = /^\{"id":"([^"]+)"/.exec(text) ?? []
  return {
    ...(created !== undefined && { location: created, etag: `"${id}:1"` }),
    vary: `Accept-Encoding, Origin${method === 'OPTIONS' ? '' : ', Accept'}${isList || hasPreference ? ', Prefer' : ''}`,
    ...(/^(?:204|304)$/.test(`${status}`) && { 'content-type': undefined }),
    ...(isRead && { 'cache-control': READ_FROM_DATABASE }),
    ...(isTagged && status < 400 && { 'last-modified': '(now)' }),
    ...(isList && { etag: 'W/"(revision)"', 'x-total-count': /"total_count":(\d+)/.exec(text)?.[1] }),
  }
}

const isReadOf = ({ method, status }: Exchange) =>
  /^(?:GET|HEAD)$/.test(method) && (status === 200 || status === 304)

/** They are below the address of a version of the interface, as collections are. */
const NO_COLLECTION = /^(?:batch|changes|profile|openapi)\b/
/** Errors that are found before the collection is looked at. */
const EARLY = /^(?:AUTHENTICATION_REQUIRED|NOT_ACCEPTABLE|METHOD_NOT_ALLOWED)$/

function usualLinksOf(exchange: Exchange): readonly string[] {
  const { method, headers, text } = exchange
  const [pathname = '', query] = exchange.path.split('?')
  const limit = new URLSearchParams(query).get('limit') ?? 20
  const [, base, rest = ''] = /^(\/api\/v\d+)\/(.*?)(?:\/versions(?:\/\d+)?)?$/.exec(pathname) ?? []
  const segments = rest.split('/')
  const collection = segments[2] ?? segments[0]
  const code = /^\{"error":\{"code":"(\w+)"/.exec(text)?.[1]
  const isOfCollection =
    base !== undefined && !NO_COLLECTION.test(rest) && method !== 'OPTIONS' && !EARLY.test(code ?? '')
  const isResource = isReadOf(exchange) && TAG_OF_RESOURCE.test(headers['etag'] ?? '')
  const to = (target: string, relation: string) => `<${target}>; rel="${relation}"`
  return [
    isOfCollection && to(`http://host${base}/profile/${collection}`, 'describedby'),
    isOfCollection &&
      'x-total-count' in headers &&
      to(`http://host${base}/changes?since=(cursor)&collection=${collection}&limit=${limit}`, 'changes'),
    isOfCollection && isResource && to(`http://host${pathname}/versions`, 'version-history'),
    code !== undefined && to(`${'../'.repeat(pathname.split('/').length - 2)}errors/${code}`, 'help'),
  ].filter((one) => one !== false)
}

/** Diagrams that are claimed elsewhere. */
const DIAGRAMS = ['docs/images/entities.svg', 'docs/images/types.svg']

/**
 * Makes the lines of pages. Of what is outside `main`, the first page has all lines; the others have the title and what differs
 * from the first, with `(none)` before what they lack. Addresses of the service's files are absolute, a row of a table is a line,
 * and a diagram has only a name.
 */
export function createPageLines(): (page: string, path: string) => readonly string[] {
  let known: readonly string[] = []
  return (page, path) => {
    if (page === '') return []
    const text = page
      .replace(
        /(?<= (?:href|src)=")(?:\.\.\/)*(?:docs|graphql)\//g,
        (one) => `${new URL(one, `http://host${path}`)}`,
      )
      .replace(/<tr>.*?<\/tr>/gs, (row) => row.replaceAll('\n', ''))
      .replaceAll('</tr><tr>', '</tr>\n<tr>')
    const named = DIAGRAMS.reduce(
      (all, file) => all.replace(readFileSync(file, 'utf8').trim(), `(${file})`),
      text,
    )
    const [before = [], main = [], after = []] = named
      .split(/(?=<main>)|(?<=<\/main>)/)
      .map((part) => part.split('\n').filter((line) => line !== ''))
    const frame = [...before, ...after]
    const lacking = known.filter((line) => !frame.includes(line) && !line.startsWith('<title>'))
    const isNew = (line: string) => !known.includes(line)
    const lines = [
      ...before.filter(isNew),
      ...lacking.map((line) => `(none) ${line}`),
      ...main,
      ...after.filter(isNew),
    ]
    if (known.length === 0) known = frame
    return lines
  }
}
