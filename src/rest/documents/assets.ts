import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { OpenRoute } from './open-route.ts'

/** What the pages load: their own files in `public/pages/`, and the reference renderer from its package. */
const OWN = [
  'pages.css',
  'content.css',
  'browse.js',
  'representation-view.js',
  'request-view.js',
  'session.js',
  'elements.js',
  'reference.js',
]
const RENDERER = ['swagger-ui.css', 'swagger-ui-bundle.js']

const TYPES: Readonly<Record<string, string>> = { css: 'text/css', js: 'text/javascript' }

/** Serves exactly these files below `/docs/assets/`; no path from a request ever reaches the disk. */
export function assetRoutes(): OpenRoute[] {
  const own = fileURLToPath(new URL('../../../public/pages/', import.meta.url))
  const renderer = createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')
  return [
    ...OWN.map((name) => asset(name, own + name)),
    ...RENDERER.map((name) => asset(name, renderer.replace(/package\.json$/, name))),
  ]
}

function asset(name: string, file: string): OpenRoute {
  let content: Promise<Buffer> | undefined
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] as string
  return [
    `/docs/assets/${name}`,
    async (ctx) => {
      content ??= readFile(file)
      ctx.body = await content
      ctx.set('Content-Type', `${type}; charset=utf-8`)
      ctx.set('Cache-Control', 'no-cache')
      ctx.set('X-Content-Type-Options', 'nosniff')
    },
  ]
}
