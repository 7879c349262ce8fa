/** Undoes something that was made. */
type Release = () => unknown

/** Does work, and afterwards, however it ended, releases what it made, the last one first. */
export async function withReleases(work: (releases: Release[]) => Promise<void>): Promise<void> {
  const releases: Release[] = []
  try {
    await work(releases)
  } finally {
    for (const release of releases.reverse()) await release()
  }
}
