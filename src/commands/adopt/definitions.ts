import { camelCase } from '../../model/definition/labels.ts'
import type { AdoptedTable } from './adopted-table.ts'
import { quoted } from './typescript.ts'

/** The names of the functions that calls use. */
const KINDS = [
  'boolean',
  'date',
  'decimal',
  'enumeration',
  'integer',
  'json',
  'number',
  'reference',
  'text',
  'timestamp',
]

/** The module of a collection. */
export function definitionModule({ path, name, description, createdField, fields }: AdoptedTable): string {
  const calls = Object.values(fields)
  const kinds = KINDS.filter((kind) => calls.some((call) => call.startsWith(`${kind}(`)))
  const lines = [
    `import { ${['defineResource', ...kinds].sort().join(', ')} } from 'halgraph/domain'`,
    '',
    `export const ${variableOf(path)} = defineResource({`,
    "  kind: 'collection',",
    `  name: '${name}',`,
    `  path: '${path}',`,
    `  description: ${quoted(description)},`,
    ...(createdField === undefined ? [] : [`  createdField: '${createdField}',`]),
    '  fields: {',
    ...Object.entries(fields).map(([field, call]) => `    ${field}: ${call},`),
    '  },',
    '})',
  ]
  return `${lines.join('\n')}\n`
}

/** The module `index.ts`. Collections come after those that they refer to, as in a seed. */
export function indexModule(title: string, tables: readonly AdoptedTable[]): string {
  const imports = tables.map(({ path }) => `import { ${variableOf(path)} } from './${path}.ts'`)
  return `import type { Domain } from 'halgraph/domain'
${imports.sort().join('\n')}

export const domain: Domain = {
  title: ${quoted(title)},
  description: ${quoted(`The data of ${title}.`)},
  resources: [
${tables.map(({ path }) => `    ${variableOf(path)},`).join('\n')}
  ],
}
`
}

/** What was adopted, what has another name, and what has no counterpart. */
export function report(tables: readonly AdoptedTable[], left: ReadonlyMap<string, string>): string {
  const parts = tables.map(({ table, path, remarks }) =>
    [`## ${table}`, '', `Served at \`/${path}\`.`, '', ...remarks.map((remark) => `- ${remark}`)].join('\n'),
  )
  const others = [...left].map(([table, reason]) => `- ${table}: ${reason}`)
  const omitted = others.length > 0 ? ['## Tables that are left out', '', ...others].join('\n') : ''
  return `# Adopted tables\n\n${[...parts, omitted].join('\n\n').trim()}\n`
}

/** Some paths are words of JavaScript. */
function variableOf(path: string): string {
  const name = camelCase(path)
  return /^(case|class|default|delete|enum|export|function|import|in|new|package|public|return|static|switch|this|var|with)$/.test(
    name,
  )
    ? `${name}Resource`
    : name
}
