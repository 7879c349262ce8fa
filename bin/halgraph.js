#!/usr/bin/env node
// @ts-check
import { build } from '../scripts/build.js'

// `npm run build` needs no more.
if ((await build()) && process.argv[2] !== 'build')
  await import(new URL('../dist/halgraph.js', import.meta.url).href)
