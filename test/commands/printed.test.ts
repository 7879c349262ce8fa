import { readdirSync } from 'node:fs'
import test from 'ava'
import { claimCommands } from '../helpers/service/command-transcript.ts'

const FOLDER = 'test/commands/printed'

for (const file of readdirSync(FOLDER)) {
  test(`the commands of ${file} print what is written there`, async (t) => {
    t.timeout(600_000)
    await claimCommands(t, `${FOLDER}/${file}`)
  })
}
