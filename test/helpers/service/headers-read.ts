import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HEADER_NAMES } from '../../../src/http/headers.ts'

/** A token may be long, and these have forms of their own, or are headers of responses. */
const OTHERS = ['authorization', 'transfer-encoding', 'x-forwarded-prefix', 'x-forwarded-proto', 'etag']

const READ_BY_LIBRARIES = [
  'accept',
  'accept-encoding',
  'access-control-request-headers',
  'access-control-request-method',
  'apollo-require-preflight',
  'content-encoding',
  'content-type',
  'origin',
  'traceparent',
  'tracestate',
  'x-apollo-operation-name',
]

/** The headers that operations read, and others that the sources name or libraries read. */
export async function headersRead(): Promise<string[]> {
  const paths = await readdir('src', { recursive: true })
  const texts = await Promise.all(
    paths.filter((path) => path.endsWith('.ts')).map((path) => readFile(join('src', path), 'utf8')),
  )
  const reading = /(?:ctx\.get\(|headers\[)'([\w-]+)'/g
  const names = texts.flatMap((text) =>
    [...text.matchAll(reading)].map(([, name = '']) => name.toLowerCase()),
  )
  const read = Object.values(HEADER_NAMES).map((name) => name.toLowerCase())
  return [...new Set([...READ_BY_LIBRARIES, ...read, ...names])].filter((name) => !OTHERS.includes(name))
}
