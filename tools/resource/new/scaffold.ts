import { camelCase } from '../../../src/graph/names.ts'
import { identifierField } from '../../../src/model/definition/resource.ts'

export interface NewResource {
  readonly kind: 'collection' | 'owned' | 'singleton'
  readonly path: string
  /** The singular, in Pascal case. */
  readonly name: string
  readonly owner?: { readonly path: string; readonly name: string } | undefined
}

/** The constant that holds a definition. */
export function constantOf({ path }: Pick<NewResource, 'path'>): string {
  return camelCase(path)
}

/** The singular of a path: `TrainingRecord` for training-records. */
export function singularOf(path: string): string {
  const words = path.split('-')
  const last = (words.pop() ?? '')
    .replace(/ies$/, 'y')
    .replace(/(ss|sh|ch|x)es$/, '$1')
    .replace(/([^s])s$/, '$1')
  return [...words, last].map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

/**
 * The module of a definition: valid, for the user to adapt.
 *
 * @param module import specifier of the module with `defineResource`
 */
export function definitionText(resource: NewResource, module: string): string {
  const { kind, path, name, owner } = resource
  const lines = [
    `import { defineResource, text } from '${module}'`,
    ...(owner ? [`import { ${constantOf(owner)} } from './${owner.path}.ts'`] : []),
    '',
    `export const ${constantOf(resource)} = defineResource({`,
    `  kind: '${kind}',`,
    ...(owner ? [`  owner: ${constantOf(owner)},`] : []),
    `  name: '${name}',`,
    `  path: '${path}',`,
    `  description: '${described(resource)}',`,
    '  fields: {',
    `    ${fieldOf(resource)},`,
    '  },',
    `  example: ${EXAMPLES[kind]},`,
    '})',
  ]
  return `${lines.join('\n')}\n`
}

function fieldOf({ kind, owner }: NewResource): string {
  if (kind === 'singleton') return `remark: text('Remark.')`
  const unique = owner ? `{ within: '${identifierField(owner)}' }` : 'true'
  return `name: text('Name, unique regardless of case.', { required: true, unique: ${unique} })`
}

const EXAMPLES = {
  collection: `{ name: 'First' }`,
  owned: `{ name: 'First' }`,
  singleton: `{ remark: 'First' }`,
} as const

function described({ kind, name, owner }: NewResource): string {
  const noun = nounOf(name)
  if (!owner) return `${articleFor(noun)} ${noun}.`
  const parent = nounOf(owner.name)
  const article = articleFor(parent).toLowerCase()
  return kind === 'singleton'
    ? `The ${noun} of ${article} ${parent}.`
    : `${articleFor(noun)} ${noun} of ${article} ${parent}.`
}

function articleFor(noun: string): string {
  return /^[aeiou]/.test(noun) ? 'An' : 'A'
}

/** The words of a name in Pascal case. */
export function nounOf(name: string): string {
  return name.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => ` ${letter}`).toLowerCase()
}
