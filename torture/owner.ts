import type { Owner } from '../test/helpers/database/database.ts'

/** Runs work that makes things, and releases them afterwards, the last one first. */
export async function withOwner<Result>(work: (owner: Owner) => Promise<Result>): Promise<Result> {
  const releases: (() => void | Promise<void>)[] = []
  try {
    return await work({ teardown: (release: () => void | Promise<void>) => void releases.push(release) })
  } finally {
    for (const release of releases.reverse()) await release()
  }
}
