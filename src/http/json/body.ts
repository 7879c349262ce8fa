import type { Context } from 'koa'
import getRawBody from 'raw-body'
import { DomainError } from '../../model/errors.ts'
import { HttpError } from '../errors.ts'
import { MAXIMUM_JSON_BYTES, parseStrictJson } from './strict-json.ts'

const JSON_TYPES = ['application/json', 'application/hal+json']
const PATCH_TYPES = [...JSON_TYPES, 'application/merge-patch+json']

/** What a PATCH accepts (RFC 5789 §3.1). */
export const ACCEPT_PATCH = { 'Accept-Patch': PATCH_TYPES.join(', ') }

/** The media types that a body may have. */
export function bodyTypes(method: string): readonly string[] {
  return method === 'PATCH' ? PATCH_TYPES : JSON_TYPES
}

/** @throws {DomainError} UNSUPPORTED_MEDIA_TYPE (415), PAYLOAD_TOO_LARGE (413), MALFORMED_JSON (400) */
export async function readJsonBody(ctx: Context): Promise<unknown> {
  const hasBody = ctx.headers['transfer-encoding'] !== undefined || (ctx.request.length ?? 0) > 0
  if (!hasBody) throw new DomainError('MALFORMED_JSON', 'The request needs a JSON body.')
  refuseMediaType(ctx)
  return parseStrictJson(await readBytes(ctx), 'The body')
}

export function bodyBytes({ state }: Context): number {
  return (state['bodyBytes'] as number | undefined) ?? 0
}

function refuseMediaType(ctx: Context): void {
  const accepted = bodyTypes(ctx.method)
  const charset = ctx.request.charset.toLowerCase()
  const encoding = ctx.get('Content-Encoding').toLowerCase()
  const isAccepted = ctx.is(...accepted) && ['', 'utf-8', 'utf8'].includes(charset)
  if (isAccepted && ['', 'identity'].includes(encoding)) return
  const message = `The body must be ${accepted.join(' or ')}, in UTF-8 and without a content encoding.`
  const headers = ctx.method === 'PATCH' ? ACCEPT_PATCH : {}
  throw new HttpError('UNSUPPORTED_MEDIA_TYPE', message, headers)
}

async function readBytes(ctx: Context): Promise<Buffer> {
  try {
    const bytes = await getRawBody(ctx.req, { limit: MAXIMUM_JSON_BYTES, length: ctx.request.length })
    ctx.state['bodyBytes'] = bytes.length
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
