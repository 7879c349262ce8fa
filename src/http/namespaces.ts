import type { RequestListener } from 'node:http'
import type { Middleware } from './context.ts'

/** The name of a namespace: a segment of paths, and a part of the name of a schema. */
const NAME = /^[a-z][a-z0-9-]{0,47}$/

/** What a name must be, for messages. */
export const NAMESPACE_NAME =
  'a name has 1 to 48 lower-case letters, digits and hyphens, begins with a letter, and is no path of the service'

/** Segments that are paths of the service itself. */
const RESERVED = ['docs', 'errors', 'graphql', 'health', 'metrics', 'model']

const FIRST_SEGMENT = /^\/([^/?]*)(?=\/)/

export function isNamespaceName(text: string): boolean {
  return NAME.test(text) && !RESERVED.includes(text)
}

function namespaceIn(path: string): string | undefined {
  const [, name = ''] = FIRST_SEGMENT.exec(path) ?? []
  return isNamespaceName(name) ? name : undefined
}

/** Hands the requests below a namespace to one application, and the others to another. */
export function byNamespace(inside: RequestListener, outside: RequestListener): RequestListener {
  return (req, res) => (namespaceIn(req.url ?? '') === undefined ? outside : inside)(req, res)
}

/** Removes the namespace from the path. Links have it, as they have the prefix of a gateway. */
export const enterNamespace: Middleware = (ctx, next) => {
  const name = namespaceIn(ctx.path) as string
  ctx.state.namespace = name
  ctx.path = ctx.path.slice(name.length + 1)
  return next()
}
