// openapi-typescript needs the JavaScript interface of TypeScript 5 or 6, which TypeScript 7 does not have.
// In a process that imports this file first, the copy inside @ts-morph/common takes its place.
import { register } from 'node:module'

register(import.meta.url)

/** A resolve hook of Node's module loader. */
export function resolve(specifier, context, next) {
  const url = new URL('typescript.mjs', import.meta.url).href
  return specifier === 'typescript' ? { url, shortCircuit: true } : next(specifier, context)
}
