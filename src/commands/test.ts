import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { ArgumentsError, CommandError, runCommand } from '../service/command.ts'
import { loadSettingsFile } from '../service/settings/configuration.ts'

const usage = `Runs the tests of the domain of the setting DOMAIN: its files *.test.ts.

  npx halgraph test
  npx halgraph test items.test.ts --name draft

  --name    only tests whose title matches this regular expression

The tests are compiled, with the domain, and run by node --test. docs/DOMAINS.md has an example.`

const options = { name: { type: 'string' } } as const

/** Built with the executable; the relative path is the same from src and from dist. */
const BUILD = new URL('../../scripts/build-domain.js', import.meta.url)

await runCommand(usage, { options, allowPositionals: true }, async ({ values, positionals }) => {
  loadSettingsFile()
  const domain = process.env['DOMAIN']
  if (!domain) throw new ArgumentsError('DOMAIN: name the folder of the domain to test')
  const { buildTests } = await import(BUILD.href)
  const tests: Map<string, string> = await buildTests(domain).catch((error: Error) => {
    throw error.name === 'BuildError' ? new CommandError(error.message) : error
  })
  const chosen = positionals.length > 0 ? positionals.map((file) => resolve(file)) : [...tests.keys()]
  const unknown = chosen.filter((file) => !tests.has(file))
  if (unknown.length > 0) throw new ArgumentsError(`No test of the domain is ${unknown.join(' or ')}`)
  if (chosen.length === 0) throw new CommandError(`The domain in ${domain} has no *.test.ts`)
  const files = chosen.map((file) => tests.get(file) as string)
  const name = values.name === undefined ? [] : [`--test-name-pattern=${values.name}`]
  // Without a terminal, Node 22 would print TAP.
  const parameters = ['--test', '--test-reporter=spec', ...name]
  const child = spawn(process.execPath, [...parameters, ...files], { stdio: 'inherit' })
  const [status] = await once(child, 'exit')
  process.exitCode = status ?? 1
})
