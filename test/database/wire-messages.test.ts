import test from 'ava'
import { applicationName, frame, isFatal, refuseCopy } from '../../src/database/embedded/wire-messages.ts'

/** The length of a message counts itself and its content, but not its type. */
function messageOf(bytes: Uint8Array) {
  const message = Buffer.from(bytes)
  return {
    type: message.toString('utf8', 0, 1),
    isWhole: message.readInt32BE(1) === message.length - 1,
    texts: message.toString('utf8', 5).split('\0'),
  }
}

test('a message has its type, its length and its content', (t) => {
  t.deepEqual(messageOf(frame('Q', 'SELECT 1\0')), { type: 'Q', isWhole: true, texts: ['SELECT 1', ''] })
  t.deepEqual(messageOf(frame('S')), { type: 'S', isWhole: true, texts: [''] })
  t.deepEqual([...frame('p', new Uint8Array([0, 255]))], [...Buffer.from('p'), 0, 0, 0, 6, 0, 255])
})

test('a start-up message names its application among other parameters', (t) => {
  const named = (...texts: string[]) => {
    const content = Buffer.from([...texts, '', ''].join('\0'))
    return applicationName(Buffer.concat([Buffer.alloc(8), content]))
  }
  t.is(named('user', 'me', 'application_name', 'psql'), 'psql')
  t.is(named('application_name', 'psql', 'database', 'one'), 'psql')
  t.is(named('database', 'application_name', 'user', 'me'), undefined)
  t.is(named('user', 'me'), undefined)
})

test('a statement that reads rows from the client is replaced by one that fails, and others stay', (t) => {
  const refusal = /^DO .* RAISE 'COPY FROM STDIN is not possible.* ERRCODE = '0A000'; END \$\$$/
  for (const text of [
    'COPY t FROM STDIN',
    'copy t (a, b) from  stdin with csv',
    'SELECT 1; /* why */ COPY t FROM STDIN',
    'SELECT 1;\nCOPY t\nFROM\nSTDIN',
  ]) {
    const query = messageOf(refuseCopy(frame('Q', `${text}\0`)))
    t.deepEqual([query.type, query.isWhole, query.texts.length], ['Q', true, 2], text)
    t.regex(query.texts[0] ?? '', refusal)
    // A Parse begins with the name of the statement, and ends with the number of its parameter types.
    const parse = messageOf(refuseCopy(frame('P', `name\0${text}\0\0\0`)))
    t.deepEqual([parse.type, parse.isWhole, parse.texts.length], ['P', true, 5], text)
    t.is(parse.texts[0], '')
    t.regex(parse.texts[1] ?? '', refusal)
  }
  for (const [type, text] of [
    ['Q', 'COPY t TO STDOUT'],
    ['Q', 'SELECT 1 FROM stdin; COPY t TO STDOUT'],
    ['Q', 'SELECT * FROM stdin AS copy'],
    ['Q', 'COPY t FROM stdings'],
    ['Q', 'SELECT copyright FROM stdin'],
    ['B', 'COPY t FROM STDIN'],
    ['d', 'COPY t FROM STDIN'],
  ] as const) {
    const message = frame(type, `${text}\0`)
    t.is(refuseCopy(message), message, `${type} ${text}`)
  }
})

test('a fatal error ends the session, and a text that quotes one does not', (t) => {
  const response = (severity: string, text: string) =>
    frame('E', `S${severity}\0V${severity}\0C57P01\0M${text}\0\0`)
  const begun = Buffer.alloc(7, 1)
  for (const severity of ['FATAL', 'PANIC']) {
    t.true(isFatal(response(severity, 'terminating')), severity)
    t.true(isFatal(Buffer.concat([begun, response(severity, 'terminating')]).subarray(3)), severity)
  }
  t.false(isFatal(response('ERROR', 'SFATAL VFATAL')))
  t.false(isFatal(frame('D', 'SFATAL')))
})
