import { readdirSync } from 'node:fs'
import test from 'ava'
import { countStatements } from '../helpers/database/statements.ts'
import { DOMAINS } from '../helpers/domain/of-transcript.ts'
import { startTestService } from '../helpers/service/service.ts'
import {
  claimResults,
  createNumbering,
  send,
  withoutChance,
  withoutDigests,
  withStatus,
} from '../helpers/service/transcript.ts'

const FOLDER = 'test/database/statements'

/** Four columns or more, one behind the other. */
const COLUMNS = /[a-z_.]+(?:, ?[a-z_.]+){3,}/g

/** A statement in short: names without quotes and schema, and the number of columns instead of many. */
function shortened(statement: string): string {
  return statement
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/"public"\./g, '')
    .replace(/"([a-z_]+)"/g, '$1')
    .replace(COLUMNS, (columns) => `${columns.split(',').length} columns`)
}

// One after the other: the statements are those of the process.
for (const file of readdirSync(FOLDER)) {
  test.serial(
    `each request of ${file} sends the database the statements that are written there`,
    async (t) => {
      const domain = DOMAINS[file]
      const service = await startTestService(t, {}, domain && { domain })
      const numbered = createNumbering()
      await claimResults(t, `${FOLDER}/${file}`, async (request) => {
        const { result, statements, values } = await countStatements(() => send(service, request))
        const lines = statements.map((text, index) => `${shortened(text)} ${JSON.stringify(values[index])}`)
        return withStatus(result.status, lines).map((line) => numbered(withoutDigests(withoutChance(line))))
      })
    },
  )
}
