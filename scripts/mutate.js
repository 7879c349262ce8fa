// @ts-check
// `npm run mutate`: puts random small faults into a copy of the project, one at a time, and runs the tests that execute
// the changed line. Prints the faults that no test notices.
import { createHash } from 'node:crypto'
import { parseArgs } from 'node:util'
import { createCopy, listTests } from './mutate/copy.js'
import { readCoverage } from './mutate/coverage.js'
import { findMutants } from './mutate/mutants.js'
import { runMutant, testsFor } from './mutate/run.js'

const USAGE = `Usage: npm run mutate -- [--count <n>] [--seed <n>] [--in <path>]... [--skip <n>] [--files <n>]
                             [--run <run>] [--tests <path>]...
  --count  how many faults to try (200)
  --seed   chooses the faults; the same seed chooses the same ones in the same sources (random)
  --in     a file or folder below which faults are made; may be repeated (src and prisma)
  --skip   how many of the chosen faults to pass over, to continue a run (0)
  --files  how many test files run at most for a fault (all); with fewer, a fault that is not noticed may be noticed by others
  --run    the tests of which run try the faults: quick, ci or all (all)
  --tests  only test files below this path run, and only faults in lines that they execute are made; may be repeated (all
           of the run)

The first run also measures which tests execute which lines, which takes about 40 minutes on two cores. Later runs reuse
the measurement while src and test are unchanged.`

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
    in: { type: 'string', multiple: true, default: ['src', 'prisma'] },
    skip: { type: 'string', default: '0' },
    files: { type: 'string', default: 'Infinity' },
    run: { type: 'string', default: 'all' },
    tests: { type: 'string', multiple: true },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(USAGE)
  process.exit()
}

const copy = await createCopy()
const coverage = await readCoverage(copy, await listTests(copy, values.run, values.tests))
const isExecuted = (/** @type {import('./mutate/mutant.js').Mutant} */ mutant) =>
  testsFor(coverage, mutant).length > 0
const found = findMutants(copy, values.in)
const mutants = values.tests ? found.filter(isExecuted) : found
const order = (/** @type {string} */ text) =>
  createHash('sha256')
    .update(values.seed + text)
    .digest('hex')
const candidates = mutants
  .map((mutant) => ({ mutant, place: order(`${mutant.file} ${mutant.start} ${mutant.text}`) }))
  .sort((one, other) => (one.place < other.place ? -1 : 1))
console.log(`Seed ${values.seed}: ${candidates.length} possible faults in ${values.in.join(', ')}`)

const counts = { noticed: 0, survived: 0, invalid: 0 }
/** @type {string[]} */
const survivors = []
for (const [index, { mutant }] of candidates.entries()) {
  if (counts.noticed + counts.survived >= Number(values.count)) break
  if (index < Number(values.skip)) continue
  const { outcome, reason } = await runMutant(copy, coverage, mutant, Number(values.files))
  counts[outcome]++
  const line = `${mutant.file}:${mutant.line}  ${mutant.description}`
  console.log(`${index}  ${outcome}  ${line}  (${reason})`)
  if (outcome === 'survived') survivors.push(`${index}  ${line}  (${reason})`)
}
const tried = counts.noticed + counts.survived
console.log(`\n${counts.noticed} of ${tried} faults noticed (${Math.round((counts.noticed / tried) * 100)} %); \
${counts.invalid} more did not compile. Seed ${values.seed}.`)
if (survivors.length > 0) console.log(`Not noticed:\n${survivors.join('\n')}`)
