import test from 'ava'
import fc from 'fast-check'
import { group, text, timestamp } from '../../src/model/fields.ts'
import { timestampText } from '../../src/model/kinds/timestamp.ts'
import { defineResource } from '../../src/model/resource.ts'
import { createRepresent } from '../../src/rest/hal.ts'

test('the text of a timestamp is that of toISOString, for every date', (t) => {
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true }), (date) => timestampText(date) === date.toISOString()),
  )
  for (const year of [-1, 0, 1, 999, 1000, 9999, 10000]) {
    const date = new Date(0)
    date.setUTCFullYear(year)
    t.is(timestampText(date), date.toISOString())
  }
})

test('a representation has the shown and set fields, in the order of the definition', (t) => {
  const represent = createRepresent(
    defineResource({
      name: 'Signal',
      kind: 'collection',
      path: 'signals',
      description: 'What an antenna has received.',
      fields: {
        tag: text('Its name.'),
        secret: text('Shown to no client.', { hidden: true }),
        origin: group('Where it came from.', { constructor: text('An odd name.'), star: text('Its star.') }),
        heard: timestamp('When it was heard.'),
      },
    }),
  )
  const created = new Date(Date.UTC(2031, 0, 2, 3, 4, 5, 6))
  const data = { heard: null, secret: 'x', tag: '', id: 's1', created_date: created, last_updated: created }
  const written = (values: object) =>
    JSON.stringify(represent({ ...data, ...values }, { self: { href: '/' } }))
  const timestamps = '"created_date":"2031-01-02T03:04:05.006Z","last_updated":"2031-01-02T03:04:05.006Z"'
  t.is(written({ origin: null }), `{"id":"s1","tag":"",${timestamps},"_links":{"self":{"href":"/"}}}`)
  t.is(
    written({ origin: { star: 'Sol', constructor: null }, heard: created, tag: null }),
    `{"id":"s1","origin":{"star":"Sol"},"heard":"2031-01-02T03:04:05.006Z",${timestamps},"_links":{"self":{"href":"/"}}}`,
  )
})
