import test from 'ava'
import { parseTimestamptz } from '../../src/database/client.ts'

const TIMESTAMPS = [
  ['2031-04-05 06:07:08.9+00', '2031-04-05T06:07:08.900Z'],
  ['2031-04-05 06:07:08.012+00', '2031-04-05T06:07:08.012Z'],
  ['0001-01-01 00:00:00+00', '0001-01-01T00:00:00.000Z'],
  ['2031-04-05 06:07:08+02', '2031-04-05T04:07:08.000Z'],
  ['2031-04-05 06:07:08.5-03:30', '2031-04-05T09:37:08.500Z'],
  ['1883-11-18 12:03:58+00:00:30', '1883-11-18T12:03:28.000Z'],
] as const

for (const [text, iso] of TIMESTAMPS) {
  test(`${text} is ${iso}`, (t) => t.is(parseTimestamptz(text).toISOString(), iso))
}
