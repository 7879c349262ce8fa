import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { fileHandler } from '../../http/static-content.ts'
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
  return [`/docs/assets/${name}`, fileHandler(file)]
}
