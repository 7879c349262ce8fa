import { readdirSync } from 'node:fs'
import test from 'ava'
import type { Domain } from '../../src/model/definition/domain.ts'
import { scopedDomain } from '../helpers/domain/scoped-domain.ts'
import { versionedDomain } from '../helpers/domain/versioned-domain.ts'
import { withAccess } from '../helpers/domain/with-access.ts'
import { startTestService } from '../helpers/service/service.ts'
import { claimTranscript } from '../helpers/service/transcript.ts'

const FOLDER = 'test/transcripts'

/** The domains of files that are not about the built-in one. */
const DOMAINS: Readonly<Record<string, Domain>> = {
  'api-versions.txt': versionedDomain,
  'scopes.txt': scopedDomain,
  'access.txt': withAccess({
    planets: {
      read: ({ subject }) => ({ or: [{ host_star: { equals: subject } }, { habitable: { equals: true } }] }),
      create: ({ subject }) => ({ host_star: { equals: subject } }),
      change: ({ subject }) => ({ host_star: { equals: subject } }),
      delete: ({ subject }) => ({ host_star: { equals: subject } }),
    },
    moons: { change: () => ({ name: { notEquals: 'Fixed' } }) },
  }),
}

for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.txt'))) {
  test(`each request of ${file} gets the response that is written there`, async (t) => {
    const domain = DOMAINS[file]
    const service = await startTestService(t, {}, domain && { domain })
    await claimTranscript(t, service, `${FOLDER}/${file}`)
  })
}
