import { LineCounter, parseDocument } from 'yaml'
import { type Seed, seedEntry } from '../../documents/openapi/seeds.ts'
import type { Resource } from '../../model/definition/resource.ts'
import { isIdentifier } from '../../model/rows/identifiers.ts'
import { inspectResource } from '../../model/validate.ts'
import { isObject } from '../../model/values.ts'

/**
 * The problems of the entries of a catalogue, one line for each, with the number of the entry and the field.
 *
 * @param file says where each is, as in `catalogue.json:12`
 */
export function seedProblems(seeds: readonly unknown[], resources: readonly Resource[], file?: SeedFile) {
  const known = new Set<string>()
  return seeds.flatMap((seed, index) => {
    const resource = isObject(seed) && resources.find(({ path }) => path === seed['collection'])
    if (!resource) {
      const collections = resources.map(({ path }) => path).join(', ')
      return [
        `${lineIn(file, index)}entry ${index + 1}: it must be an object whose collection is one of ${collections}`,
      ]
    }
    const { problems, key } = problemsOf(seed as Seed, resource)
    if (problems.length === 0 && known.has(key))
      problems.push({ path: ['id'], text: 'an entry before it has the same id' })
    known.add(key)
    return problems.map(
      ({ path, text }) => `${lineIn(file, index, path)}${placeOf(seed as Seed, index)}: ${text}`,
    )
  })
}

/** A catalogue, and the lines of its entries. */
export interface SeedFile {
  readonly name: string
  readonly lineOf: LineOf
}

/** `prisma/seed/catalogue.json:12: ` */
export function lineIn(file: SeedFile | undefined, index: number, path?: readonly string[]): string {
  return file ? `${file.name}:${file.lineOf(index, path)}: ` : ''
}

/** `entry 3 (moons/luna)` */
export function placeOf({ collection, id }: Seed, index: number): string {
  return `entry ${index + 1} (${collection}${typeof id === 'string' ? `/${id}` : ''})`
}

interface SeedProblem {
  /** Of the value in the entry. */
  readonly path: readonly string[]
  readonly text: string
}

function problemsOf(seed: Seed, resource: Resource) {
  const { parentField, kind } = resource
  const { parents, parentId, id, body } = seedEntry(seed, resource)
  const problems: SeedProblem[] = []
  const parentPath = parentField !== undefined && parentField in seed ? [parentField] : ['parent']
  if (parents.size > 1) problems.push({ path: parentPath, text: `parent and ${parentField} are different` })
  else if (parentField && !isKey(parentId)) {
    problems.push({ path: parentPath, text: `${parentField} must be the id of its parent` })
  }
  if (kind === 'singleton' ? seed['id'] !== undefined && id !== parentId : !isKey(id)) {
    const text =
      kind === 'singleton'
        ? 'its id must be that of its parent'
        : 'it needs an id, of 1 to 64 letters, digits, and . _ ~ -'
    problems.push({ path: ['id'], text })
  }
  for (const { field, message } of inspectResource(resource, body).details)
    problems.push({ path: field.split('.'), text: message })
  return { problems, key: `${resource.path}/${parentId ?? ''}/${id}` }
}

function isKey(value: unknown): boolean {
  return typeof value === 'string' && isIdentifier(value)
}

/** The line of an entry, or of what is at a path in it. */
export type LineOf = (index: number, path?: readonly string[]) => number | undefined

/** The lines of a catalogue. JSON is YAML, whose parser keeps the places of values. */
export function seedLines(text: string): LineOf {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter })
  const lineAt = (path: readonly (string | number)[]) => {
    const node = document.getIn(path, true) as { readonly range?: readonly number[] } | undefined
    return node?.range && lineCounter.linePos(node.range[0] as number).line
  }
  return (index, path = []) => lineAt([index, ...path]) ?? lineAt([index])
}
