#!/usr/bin/env node
// @ts-check
import { BuildError, buildIfChanged } from '../scripts/build.js'
import { buildDomainIfChanged, domainSetting } from '../scripts/build-domain.js'

try {
  await buildIfChanged()
  const domain = domainSetting()
  if (domain !== undefined) await buildDomainIfChanged(domain)
  await import(new URL('../dist/halgraph.js', import.meta.url).href)
} catch (error) {
  if (!(error instanceof BuildError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
