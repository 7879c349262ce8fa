import type { Edge, Graph, Node } from '@viz-js/viz'
import type { MappedType } from '../graph/type-map.ts'
import { isAlwaysSet } from '../model/fields.ts'
import { relationsOf } from '../model/relations.ts'
import type { Leaf, Resource } from '../model/resource.ts'
import { Html, html } from './html.ts'

/** A primary key, a foreign key, or a value that is unique. */
type Key = 'PK' | 'FK' | 'UK'

type Cardinality = 'one' | 'zero or one' | 'zero or more'

/** A foreign key: from the entity it refers to, to the entity that has it. */
export interface Relationship {
  readonly parent: Resource
  readonly child: Resource
  readonly column: string
  readonly label: string
  readonly parents: Cardinality
  readonly children: Cardinality
  /** Whether the key of the child includes that of the parent. */
  readonly identifying: boolean
}

/** The columns of the entity of a resource: those of groups are `{group}_{member}`. */
export function attributesOf(resource: Resource) {
  return resource.leaves.map((leaf) => {
    const { column: name, field } = leaf
    const keys = keysOf(resource, leaf)
    const type = keys.some((key) => key !== 'UK') ? 'identifier' : field.type
    return { name, type, keys, required: isAlwaysSet(field), description: field.description }
  })
}

function keysOf({ parentField }: Resource, { name, field }: Leaf): Key[] {
  if (name === parentField) return ['PK', 'FK']
  if (name === 'id') return ['PK']
  const foreign: Key[] = field.type === 'reference' ? ['FK'] : []
  return field.unique === true ? [...foreign, 'UK'] : foreign
}

export function relationshipsOf(resources: readonly Resource[]): Relationship[] {
  return resources.flatMap((child) => [
    ...ownership(child),
    ...relationsOf(child, resources).map(
      ({ relation, leaf, target }): Relationship => ({
        parent: target,
        child,
        column: leaf.column,
        label: relation,
        parents: isAlwaysSet(leaf.field) ? 'one' : 'zero or one',
        children: 'zero or more',
        identifying: false,
      }),
    ),
  ])
}

function ownership(child: Resource): Relationship[] {
  const { owner: parent, parentField: column, listed } = child
  if (!parent || !column) return []
  const children = listed ? 'zero or more' : 'zero or one'
  return [{ parent, child, column, label: 'owns', parents: 'one', children, identifying: true }]
}

// Graphviz computes the layout and draws the SVG. The page sets the colours: HEADING is only a mark for its style.

const FONT = { fontname: 'Helvetica', fontsize: 10 }
const HEADING = '#eeeeee'

/** The first shape of a Graphviz arrow is nearest to the entity. */
const ENDS: Readonly<Record<Cardinality, string>> = {
  one: 'noneteetee',
  'zero or one': 'noneteeodot',
  'zero or more': 'crowodot',
}

export function entityAnchor(path: string): string {
  return `entity-${path}`
}

export function typeAnchor(name: string): string {
  return `type-${name}`
}

/** An entity-relationship diagram with the keys and the required columns of each entity, as SVG. */
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
    return node(resource.name, entityAnchor(resource.path), rows, attributes.length - shown.length)
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

/** The GraphQL types with the fields that lead to other types, as SVG. */
export function drawTypes(types: readonly MappedType[]): Promise<Html> {
  const nodes = types.map(({ name, fields }) => {
    const links = fields.filter(({ target }) => target !== undefined)
    const rows = links
      .filter(({ kind }) => kind !== 'connection')
      .map(({ name: field }) => html`<TR><TD COLSPAN="2" ALIGN="LEFT" PORT="${field}">${field}</TD></TR>`)
    return node(name, typeAnchor(name), rows, fields.length - links.length)
  })
  const edges = types.flatMap(({ name, fields }) =>
    fields.flatMap((field): Edge[] => {
      if (field.target === undefined || field.kind === 'connection') return []
      const attributes = {
        tailport: field.name,
        arrowtail: 'none',
        arrowhead: field.kind === 'page' ? 'crow' : 'normal',
        tooltip: `${name}.${field.name}`,
      }
      return [{ tail: name, head: field.target, attributes }]
    }),
  )
  return draw({ nodes, edges })
}

function node(name: string, anchor: string, rows: readonly Html[], others: number): Node {
  const more = others > 0 ? html`<TR><TD ALIGN="LEFT" COLSPAN="2">${others} more</TD></TR>` : ''
  const label = html`<TABLE BORDER="0" CELLBORDER="1" CELLSPACING="0" CELLPADDING="5" COLOR="#cccccc">
<TR><TD COLSPAN="2" BGCOLOR="${HEADING}" HREF="#${anchor}" TITLE="${name}">${name}</TD></TR>${[...rows]}${more}</TABLE>`
  return { name, attributes: { label: { html: label.text } } }
}

/** Loads Graphviz, which is 1.2 MB, when something is first drawn. SVG 2 §16.6 has links without `xlink:`. */
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
