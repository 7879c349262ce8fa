import type { MappedType } from '../../graph/type-map.ts'
import type { Resource } from '../../model/resource.ts'
import { type Cardinality, type DataModel, dataModel, type Entity, type Relationship } from './entities.ts'

/** The data model and the GraphQL types as a Markdown document with Mermaid diagrams, which code hosts render. */
export function modelDocument(resources: readonly Resource[], types: readonly MappedType[]): string {
  return `# Data model

Generated from the definitions by \`npm run docs\`. A running service shows the same of its own domain at \`/model\`, with
tables of all fields.

## Entities

A solid line is an owned resource, whose key includes that of its parent. A dashed line is a reference. Every entity
also has a \`version\`.

\`\`\`mermaid
${entityDiagram(dataModel(resources))}
\`\`\`

## GraphQL types

The types of resources and the fields that connect them. A thick line is a list: a page, beside which there is
always a connection of the same items.

\`\`\`mermaid
${typeDiagram(types)}
\`\`\`
`
}

function entityDiagram({ entities, relationships }: DataModel): string {
  return ['erDiagram', ...entities.map(entityBlock), ...relationships.map(relationshipLine)].join('\n')
}

function entityBlock({ resource, attributes }: Entity): string {
  const lines = attributes.map(({ type, name, keys, required }) =>
    [
      '   ',
      type,
      name,
      ...(keys.length > 0 ? [keys.join(', ')] : []),
      ...(required ? ['"required"'] : []),
    ].join(' '),
  )
  return [`  ${resource.name} {`, ...lines, '  }'].join('\n')
}

const PARENTS: Readonly<Record<Cardinality, string>> = {
  one: '||',
  'zero or one': '|o',
  'zero or more': '}o',
}
const CHILDREN: Readonly<Record<Cardinality, string>> = {
  one: '||',
  'zero or one': 'o|',
  'zero or more': 'o{',
}

function relationshipLine({ parent, child, label, parents, children, identifying }: Relationship): string {
  const line = PARENTS[parents] + (identifying ? '--' : '..') + CHILDREN[children]
  return `  ${parent.name} ${line} ${child.name} : "${label}"`
}

function typeDiagram(types: readonly MappedType[]): string {
  const nodes = types.map(({ name, resource }) => `  ${name}${resource ? `["${name}"]` : `("${name}")`}`)
  const links = types.flatMap(({ name, fields }) =>
    fields.flatMap((field) => {
      if (field.target === undefined || field.kind === 'connection') return []
      return [`  ${name} ${field.kind === 'page' ? '==>' : '-->'}|"${field.name}"| ${field.target}`]
    }),
  )
  return ['flowchart LR', ...nodes, ...links].join('\n')
}
