import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { HEADER_NAMES } from '../../src/http/headers/request-headers.ts'
import { OPERATION_HEADERS } from '../../src/rest/batch.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

/** A token may be long, and these have forms of their own, or are headers of responses. */
const OTHERS = ['authorization', 'transfer-encoding', 'x-forwarded-prefix', 'x-forwarded-proto', 'etag']

/** The headers that operations read, and others that the sources name. */
async function headersRead(): Promise<string[]> {
  const paths = await readdir('src', { recursive: true })
  const texts = await Promise.all(
    paths.filter((path) => path.endsWith('.ts')).map((path) => readFile(join('src', path), 'utf8')),
  )
  const reading = /(?:ctx\.get\(|headers\[)'([\w-]+)'/g
  const names = texts.flatMap((text) =>
    [...text.matchAll(reading)].map(([, name = '']) => name.toLowerCase()),
  )
  const read = Object.values(HEADER_NAMES).map((name) => name.toLowerCase())
  return [...new Set(['accept', ...read, ...names])].filter((name) => !OTHERS.includes(name))
}

test('a header that the service reads has at most 2,000 characters', async (t) => {
  const names = await headersRead()
  t.true(names.length > 12)
  for (const name of names) {
    const { status, body } = await service().reader.get('/species', { [name]: 'x'.repeat(2_001) })
    t.is(status, 431, name)
    t.deepEqual(body.error.details[0].field, name)
    t.not((await service().reader.get('/species', { [name]: 'x'.repeat(2_000) })).status, 431, name)
  }
})

test('an error is told in the usual form, also if Accept is what is too long', async (t) => {
  const accept = `application/problem+json,"${','.repeat(2_000)}`
  const { status, body } = await service().anonymous.get('/species', { accept })
  t.is(status, 431)
  t.is(body.error.code, 'HEADERS_TOO_LARGE')
})

test('a header of an operation in a batch has at most 2,000 characters, too', async (t) => {
  for (const name of OPERATION_HEADERS) {
    const operation = { method: 'POST', path: '/planets', headers: { [name]: ' '.repeat(2_001) }, body: {} }
    const { status, body } = await service()
      .withScope('')
      .post('/batch', { operations: [operation] })
    t.is(status, 431, name)
    t.is(body.error.details[0].field, `operations[0].headers.${name}`)
  }
})

test('a path of many levels is a 404 that clients can receive', async (t) => {
  const { status, body } = await service().reader.get(`/species${'/'.repeat(14_000)}`)
  t.is(status, 404)
  t.is(body.error.code, 'RESOURCE_NOT_FOUND')
})
