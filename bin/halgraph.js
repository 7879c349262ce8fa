#!/usr/bin/env node
// @ts-check
import module from 'node:module'
import { build } from '../scripts/build.js'

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

// This command builds the domain itself, and again after each change.
const needsDomain = !isQuestion && process.argv[2] !== 'dev'

// This command writes the Prisma schema, so it also runs where that is not valid.
const needsClient = process.argv[2] !== 'resource'

if (await build(needsDomain, needsClient)) await import(new URL('../dist/halgraph.js', import.meta.url).href)
