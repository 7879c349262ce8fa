import fc from 'fast-check'

/** `quick` is `npm test`; the others are `npm run test:ci` and `npm run test:all` (scripts/test.js). */
type Run = 'quick' | 'ci' | 'all'

const run = (process.env['TEST_RUN'] ?? 'quick') as Run

/** How often a test with random values tries in this run. */
export function tries(quick: number, all: number, ci = quick): number {
  return { quick, ci, all }[run]
}

/** Determines all random values of the tests: the same each time, except in `npm run test:all`, which prints it. */
export const SEED = Number(process.env['TEST_SEED'] ?? 731072)

fc.configureGlobal({ seed: SEED })

export { fc }
