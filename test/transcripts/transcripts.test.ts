import { readdirSync } from 'node:fs'
import test from 'ava'
import { DOMAINS } from '../helpers/domain/of-transcript.ts'
import { startTestService } from '../helpers/service/service.ts'
import { claimTranscript } from '../helpers/service/transcript.ts'

const FOLDER = 'test/transcripts'

for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.txt'))) {
  test(`each request of ${file} gets the response that is written there`, async (t) => {
    const domain = DOMAINS[file]
    const service = await startTestService(t, {}, domain && { domain })
    await claimTranscript(t, service, `${FOLDER}/${file}`)
  })
}
