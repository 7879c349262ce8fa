#!/usr/bin/env node
// @ts-check
import module from 'node:module'
import { buildDomainIfChanged, domainSetting } from '../scripts/build-domain.js'
import { BuildError, buildIfChanged } from '../scripts/build-service.js'

// npm runs a script in a shell, which ends at a signal and does not pass it on.
const script = process.env['npm_lifecycle_script'] ?? ''
const isForeground = !/(?<!&)&(?!&)/.test(script)
const { ppid } = process
if (script !== '' && isForeground) {
  const watch = setInterval(() => {
    if (process.ppid === ppid) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 500)
  watch.unref()
}

// Node 22.1 and newer keep compiled modules, for the processes and threads started by this one as well.
const { enableCompileCache } = /** @type {{ enableCompileCache?: () => { directory?: string } }} */ (module)
const { directory } = enableCompileCache?.() ?? {}
if (directory !== undefined) process.env['NODE_COMPILE_CACHE'] ??= directory

const isQuestion = [undefined, 'help', '--help', '-h', '--version', '-v'].includes(process.argv[2])

// These commands write the domain, or build it themselves and again after each change.
const isWriting = process.argv[2] === 'adopt' && !process.argv.includes('--copy')
const needsDomain = !isQuestion && !isWriting && process.argv[2] !== 'dev'

// This command writes the Prisma schema, so it also runs where that is not valid.
const needsClient = process.argv[2] !== 'resource'

try {
  await buildIfChanged(needsClient)
  const domain = domainSetting()
  if (needsDomain && domain !== undefined) await buildDomainIfChanged(domain, needsClient)
  await import(new URL('../dist/halgraph.js', import.meta.url).href)
} catch (error) {
  if (!(error instanceof BuildError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
