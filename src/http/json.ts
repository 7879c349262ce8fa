import { isUtf8 } from 'node:buffer'
import getRawBody from 'raw-body'
import secureJson from 'secure-json-parse'
import { DomainError } from '../model/errors.ts'
import { exactNumber } from '../model/values.ts'
import type { Context } from './context.ts'
import { HttpError } from './errors.ts'

export const JSON_TYPES: readonly string[] = ['application/json', 'application/hal+json']
/** RFC 7396. */
export const MERGE_PATCH = 'application/merge-patch+json'

/** The header that says what PATCH accepts (RFC 5789 §3.1). */
export function acceptPatch(types: readonly string[]) {
  return { 'Accept-Patch': types.join(', ') }
}

/** @throws {DomainError} UNSUPPORTED_MEDIA_TYPE (415), PAYLOAD_TOO_LARGE (413), MALFORMED_JSON (400) */
export async function readJsonBody(ctx: Context, types = JSON_TYPES): Promise<unknown> {
  const hasBody = ctx.headers['transfer-encoding'] !== undefined || (ctx.request.length ?? 0) > 0
  if (!hasBody) throw new DomainError('MALFORMED_JSON', 'The request needs a JSON body.')
  refuseMediaType(ctx, types)
  return parseStrictJson(await readBytes(ctx), 'The body')
}

export function bodyBytes({ state }: Context): number {
  return state.bodyBytes ?? 0
}

function refuseMediaType(ctx: Context, accepted: readonly string[]): void {
  const charset = ctx.request.charset.toLowerCase()
  const encoding = ctx.get('Content-Encoding').toLowerCase()
  const isAccepted = ctx.is(...accepted) && ['', 'utf-8', 'utf8'].includes(charset)
  if (isAccepted && ['', 'identity'].includes(encoding)) return
  const message = `The body must be ${accepted.join(' or ')}, in UTF-8 and without a content encoding.`
  const headers = ctx.method === 'PATCH' ? acceptPatch(accepted) : {}
  throw new HttpError('UNSUPPORTED_MEDIA_TYPE', message, headers)
}

async function readBytes(ctx: Context): Promise<Buffer> {
  try {
    const bytes = await getRawBody(ctx.req, { limit: MAXIMUM_JSON_BYTES, length: ctx.request.length })
    ctx.state.bodyBytes = bytes.length
    return bytes
  } catch (error) {
    const { type = '' } = error as { type?: string }
    if (type === 'entity.too.large') {
      const message = `The body must not be larger than ${MAXIMUM_JSON_BYTES} bytes.`
      throw new HttpError('PAYLOAD_TOO_LARGE', message, { Connection: 'close' })
    }
    const isLost = ['request.size.invalid', 'request.aborted', 'stream.not.readable'].includes(type)
    throw isLost ? new DomainError('MALFORMED_JSON', 'The body is incomplete.') : error
  }
}

/** Of a request body, or of one line of an import. */
export const MAXIMUM_JSON_BYTES = 1024 * 1024

/** Of members and elements. A megabyte of them takes ten times as long to parse as one string. */
const MAXIMUM_VALUES = 10_000

const MAXIMUM_DEPTH = 64

/**
 * Accepts only JSON (RFC 8259) in valid UTF-8 without duplicate members, `__proto__` or `constructor`, with at most 64
 * levels and 10,000 values. A number that double precision does not keep becomes infinite, which no field accepts.
 *
 * @param subject the subject of error messages: `The body`
 * @throws {DomainError} MALFORMED_JSON (400)
 */
export function parseStrictJson(bytes: Buffer, subject: string): unknown {
  if (!isUtf8(bytes)) throw new DomainError('MALFORMED_JSON', `${subject} is not valid UTF-8.`)
  const text = bytes.toString()
  try {
    return secureJson.parse(unambiguous(text), { protoAction: 'error', constructorAction: 'error' })
  } catch (error) {
    const problem = (error as Error).message
    throw new DomainError('MALFORMED_JSON', `${subject} is not acceptable JSON: ${problem}.`)
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/** JSON has no infinity; parsers read this one. */
const INFINITY = '1e999'

/**
 * Refuses duplicate members, too many values and too many levels. Parsers differ on which of two duplicate members counts
 * (RFC 8259 §4), so two programs can read one body differently.
 *
 * @param text may be malformed; then it may pass
 * @returns the text, with {@link INFINITY} for each number that the parser would change
 */
function unambiguous(text: string): string {
  const open: Set<string>[] = []
  const parts: string[] = []
  let copied = 0
  let values = 1
  let string = ''
  for (let index = 0; index < text.length; index++) {
    const character = text[index] as string
    if (character === '"') {
      const end = endOfString(text, index)
      string = text.slice(index, end)
      index = end - 1
    } else if (character === ',') {
      if (++values > MAXIMUM_VALUES) throw new Error(`it has more than ${MAXIMUM_VALUES} values`)
    } else if (character === '{' || character === '[') {
      if (open.length === MAXIMUM_DEPTH) throw new Error(`it is nested deeper than ${MAXIMUM_DEPTH} levels`)
      open.push(new Set())
    } else if (character === '}' || character === ']') {
      open.pop()
    } else if (character === ':') {
      const name: string = string.includes('\\') ? JSON.parse(string) : string.slice(1, -1)
      if (open.at(-1)?.has(name))
        throw new Error(`it has two members named ${JSON.stringify(name.slice(0, 100))}`)
      open.at(-1)?.add(name)
    } else if (character === '-' || (character >= '0' && character <= '9')) {
      NUMBER.lastIndex = index
      const [number] = NUMBER.exec(text) ?? [character]
      if (number !== '-' && !Number.isFinite(exactNumber(number))) {
        parts.push(text.slice(copied, index), INFINITY)
        copied = index + number.length
      }
      index += number.length - 1
    }
  }
  return parts.join('') + text.slice(copied)
}

/** Returns the index after the closing quote. */
function endOfString(text: string, start: number): number {
  let index = start + 1
  while (index < text.length && text[index] !== '"') index += text[index] === '\\' ? 2 : 1
  return index + 1
}
