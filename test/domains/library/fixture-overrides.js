/** Of the values of a fixture, those that the rules want, by path. */
export const fixtureOverrides = { loans: { status: 'requested' } }

/** Of the callers of tests, who may do everything. */
export const claims = { role: 'librarian' }
