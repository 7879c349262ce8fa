import type { Edge, Graph, Node } from '@viz-js/viz'
import type { MappedType } from '../graph/type-map.ts'
import { isAlwaysSet } from '../model/definition/fields.ts'
import { relationsOf } from '../model/definition/relations.ts'
import type { Resource } from '../model/definition/resource.ts'
import { Html, html } from './html.ts'

/** The columns of a resource. Those of groups are named `{group}_{member}`. */
export function attributesOf({ leaves, parentField }: Resource) {
  return leaves.map(({ name, column, field }) => {
    const isPrimary = name === 'id' || name === parentField
    const isForeign = name === parentField || field.type === 'reference'
    return {
      name: column,
      type: isPrimary || isForeign ? 'identifier' : field.type,
      keys: [isPrimary && 'PK', isForeign && 'FK', field.unique === true && 'UK'].filter(
        (key) => key !== false,
      ),
      required: isAlwaysSet(field),
      description: field.description,
    }
  })
}

/** A foreign key of the child. It is identifying if the key of the child includes that of the parent. */
export type Relationship = ReturnType<typeof relationshipsOf>[number]

export function relationshipsOf(resources: readonly Resource[]) {
  return resources.flatMap((child) => {
    const { owner, parentField: column, listed } = child
    const owned =
      owner && column ? [{ parent: owner, column, label: 'owns', isSet: true, identifying: true }] : []
    const references = relationsOf(child, resources).map(({ relation, leaf, target }) => ({
      parent: target,
      column: leaf.column,
      label: relation,
      isSet: isAlwaysSet(leaf.field),
      identifying: false,
    }))
    return [...owned, ...references].map(({ isSet, ...relationship }) => {
      const parents = isSet ? 'one' : 'zero or one'
      const children = relationship.identifying && !listed ? 'zero or one' : 'zero or more'
      return { child, parents, children, ...relationship } as const
    })
  })
}

const FONT = { fontname: 'Helvetica', fontsize: 10 }
/** Only marks headings: the page sets the colours. */
const HEADING = '#eeeeee'

/** The first shape of a Graphviz arrow is nearest to the entity. */
const ENDS = {
  one: 'noneteetee',
  'zero or one': 'noneteeodot',
  'zero or more': 'crowodot',
}

export function anchorOf(kind: 'entity' | 'type', name: string): string {
  return `${kind}-${name}`
}

/** Draws the keys and the required columns of each entity, as SVG. */
export function drawEntities(resources: readonly Resource[]): Promise<Html> {
  const nodes = resources.map((resource) => {
    const attributes = attributesOf(resource)
    const shown = attributes.filter(
      ({ keys, required, type }) => keys.length > 0 || (required && type !== 'timestamp'),
    )
    const rows = shown.map(
      ({ name, keys }) =>
        html`<TR><TD ALIGN="LEFT" PORT="${name}">${name}</TD><TD ALIGN="RIGHT">${keys.join(' ')}</TD></TR>`,
    )
    return node(resource.name, anchorOf('entity', resource.path), rows, attributes.length - shown.length)
  })
  return draw({ nodes, edges: relationshipsOf(resources).map(edge) })
}

function edge(relationship: Relationship): Edge {
  const { parent, child, column, label, parents, children, identifying } = relationship
  return {
    tail: parent.name,
    head: child.name,
    attributes: {
      arrowtail: ENDS[parents],
      arrowhead: ENDS[children],
      headport: column,
      label: identifying ? '' : ` ${label} `,
      tooltip: `${parent.name}, ${parents}; ${child.name}, ${children}`,
      style: identifying ? 'solid' : 'dashed',
    },
  }
}

/** Draws the fields that lead to other types, as SVG. Omits connections, which lead where pages do. */
export function drawTypes(types: readonly MappedType[]): Promise<Html> {
  const nodes = types.map(({ name, fields }) => {
    const rows = linksOf(fields).map(
      ({ name: field }) => html`<TR><TD COLSPAN="2" ALIGN="LEFT" PORT="${field}">${field}</TD></TR>`,
    )
    return node(name, anchorOf('type', name), rows, fields.filter(({ kind }) => kind === 'value').length)
  })
  const edges = types.flatMap(({ name, fields }) =>
    linksOf(fields).map((field): Edge => {
      const attributes = {
        tailport: field.name,
        arrowtail: 'none',
        arrowhead: field.kind === 'page' ? 'crow' : 'normal',
        tooltip: `${name}.${field.name}`,
      }
      return { tail: name, head: field.target as string, attributes }
    }),
  )
  return draw({ nodes, edges })
}

function linksOf(fields: MappedType['fields']): MappedType['fields'] {
  return fields.filter(({ kind }) => kind === 'object' || kind === 'page')
}

function node(name: string, anchor: string, rows: readonly Html[], others: number): Node {
  const more = others > 0 ? html`<TR><TD ALIGN="LEFT" COLSPAN="2">${others} more</TD></TR>` : ''
  const label = html`<TABLE BORDER="0" CELLBORDER="1" CELLSPACING="0" CELLPADDING="5" COLOR="#cccccc">
<TR><TD COLSPAN="2" BGCOLOR="${HEADING}" HREF="#${anchor}" TITLE="${name}">${name}</TD></TR>${[...rows]}${more}</TABLE>`
  return { name, attributes: { label: { html: label.text } } }
}

/** Loads Graphviz (1.2 MB) at the first drawing. SVG 2 §16.6 has links without `xlink:`. */
async function draw(graph: Graph): Promise<Html> {
  const { instance } = await import('@viz-js/viz')
  const viz = await instance()
  const drawn = viz.renderString(
    {
      graphAttributes: { rankdir: 'LR', nodesep: 0.25, ranksep: 0.5 },
      nodeAttributes: { ...FONT, shape: 'plain' },
      edgeAttributes: { ...FONT, dir: 'both', arrowsize: 0.8 },
      ...graph,
    },
    { format: 'svg' },
  )
  return new Html(drawn.slice(drawn.indexOf('<svg')).replaceAll(' xlink:', ' '))
}
