import { camelCase } from '../../../src/graph/names.ts'
import { capitalized, noun, withArticle } from '../../../src/model/definition/labels.ts'
import { identifierField } from '../../../src/model/definition/resource.ts'

export interface NewResource {
  readonly kind: 'collection' | 'owned' | 'singleton'
  readonly path: string
  /** The singular, in Pascal case. */
  readonly name: string
  readonly owner?: { readonly path: string; readonly name: string } | undefined
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
    ...(owner ? [`import { ${camelCase(owner.path)} } from './${owner.path}.ts'`] : []),
    '',
    `export const ${camelCase(path)} = defineResource({`,
    `  kind: '${kind}',`,
    ...(owner ? [`  owner: ${camelCase(owner.path)},`] : []),
    `  name: '${name}',`,
    `  path: '${path}',`,
    `  description: '${described(resource)}',`,
    '  fields: {',
    `    ${fieldOf(resource)},`,
    '  },',
    `  example: { ${kind === 'singleton' ? 'remark' : 'name'}: 'First' },`,
    '})',
  ]
  return `${lines.join('\n')}\n`
}

function fieldOf({ kind, owner }: NewResource): string {
  if (kind === 'singleton') return `remark: text('Remark.')`
  const unique = owner ? `{ within: '${identifierField(owner)}' }` : 'true'
  return `name: text('Name, unique regardless of case.', { required: true, unique: ${unique} })`
}

function described({ kind, name, owner }: NewResource): string {
  if (!owner) return `${capitalized(withArticle(noun({ name })))}.`
  const article = kind === 'singleton' ? `The ${noun({ name })}` : capitalized(withArticle(noun({ name })))
  return `${article} of ${withArticle(noun(owner))}.`
}
