import {
  anchorOf,
  attributesOf,
  drawEntities,
  drawTypes,
  type Relationship,
  relationshipsOf,
} from '../documents/data-model.ts'
import { type Html, html } from '../documents/html.ts'
import { PATHS } from '../documents/openapi/service-paths.ts'
import { GRAPHQL_PATH } from '../graph/http/apollo.ts'
import type { MappedType } from '../graph/type-map.ts'
import { inWords } from '../model/definition/labels.ts'
import type { Resource } from '../model/definition/resource.ts'
import { pageWith, type Site, table } from './page.ts'

/** @param types undefined if introspection is off */
export function modelPage(
  resources: readonly Resource[],
  types: readonly MappedType[] | undefined,
): (site: Site) => Promise<Html> {
  const relationships = relationshipsOf(resources)
  let drawings: Promise<[Html, Html | undefined]> | undefined
  return async (site) => {
    drawings ??= Promise.all([drawEntities(resources), types && drawTypes(types)])
    const [entities, drawnTypes] = await drawings
    const content = html`<h1>Data model</h1>
<p>The resources of the service${types ? html` and its <a href="#types">GraphQL types</a>` : ''} are generated from the
definitions. A name in a diagram links to its fields.</p>
<h2 id="entities">Entities</h2>
${figure('Diagram of the entities', entities)}
<p class="note">Shows keys (PK primary, FK foreign, UK unique) and required fields. A solid line leads to an owned resource,
whose key includes that of its parent; a dashed line is a reference. A crow&rsquo;s foot means any number, a circle with a bar
none or one, two bars exactly one.</p>
${resources.map((resource) => entitySection(resource, relationships, site))}
${types && drawnTypes && typesPart(types, drawnTypes, site)}`
    return pageWith('Data model', site, content)
  }
}

/** Wide drawings can be scrolled, even with the keyboard. */
function figure(title: string, drawing: Html): Html {
  return html`<div class="diagram" tabindex="0" role="region" aria-label="${title}; the tables below have the same content">
${drawing}</div>`
}

function entitySection(resource: Resource, relationships: readonly Relationship[], site: Site): Html {
  const { path, owner, name, kind, description } = resource
  const rows = attributesOf(resource).map(
    ({ name: column, type, keys, required, description: text }) => html`<tr>
<th scope="row">${column}</th><td>${type}</td><td>${keys.join(', ')}</td><td>${required ? 'yes' : ''}</td><td>${text}</td></tr>`,
  )
  return html`<details>
<summary><b>${name}</b> <span class="note">${description}</span></summary>
<div id="${anchorOf('entity', path)}">
<p>${owner ? html`${inWords(kind)}, of ${entityLink(owner)}` : 'Collection'}.
${owner ? '' : html`<a href="${site.base}/${path}">Browse</a> ·`}
<a href="${site.base}${PATHS.profiles}/${path}">Schema and policies</a></p>
${table(`Fields of ${name}`, ['Field', 'Type', 'Key', 'Required', 'Meaning'], rows, ' described')}
<ul>${relationshipItems(resource, relationships)}</ul>
</div>
</details>`
}

function relationshipItems(resource: Resource, relationships: readonly Relationship[]): Html[] {
  return relationships.flatMap(({ parent, child, label: text, column, parents, children, identifying }) => {
    const name = identifying ? 'owned through' : `${text}, through`
    const ofParent = html`<li>${parents} ${entityLink(parent)}: ${name} <code>${column}</code></li>`
    const ofChild = html`<li>${children} ${entityLink(child)}: ${name} its <code>${column}</code></li>`
    return [...(child === resource ? [ofParent] : []), ...(parent === resource ? [ofChild] : [])]
  })
}

function entityLink({ path, name }: Resource): Html {
  return html`<a href="#${anchorOf('entity', path)}">${name}</a>`
}

function typesPart(types: readonly MappedType[], drawing: Html, site: Site): Html {
  return html`<h2 id="types">GraphQL types</h2>
${figure('Diagram of the GraphQL types', drawing)}
<p class="note">Shows the fields that lead to other types; a crow&rsquo;s foot means a list. Each list is available as a page
and as a connection with cursors; both are drawn as their items. Aggregates, inputs and payloads are in the schema.</p>
${types.map((type) => typeSection(type, site))}`
}

function typeSection({ name, description, resource, fields, operations }: MappedType, site: Site): Html {
  const rows = fields.map(({ name: field, type, target, description: text }) => {
    const shown =
      target === undefined ? html`${type}` : html`<a href="#${anchorOf('type', target)}">${type}</a>`
    return html`<tr><th scope="row">${field}</th><td>${shown}</td><td>${text}</td></tr>`
  })
  const explorer = resource?.kind === 'collection' && site.hasExplorer
  return html`<details>
<summary><b>${name}</b> <span class="note">${description}</span></summary>
<div id="${anchorOf('type', name)}">
${explorer ? html`<p><a href="${site.root}${GRAPHQL_PATH}#example=${resource.path}">Query it in the explorer</a></p>` : ''}
${operations.length > 0 ? html`<p>Operations: ${operations.map((one, index) => html`${index > 0 ? ', ' : ''}<code>${one}</code>`)}</p>` : ''}
${table(`Fields of the type ${name}`, ['Field', 'Type', 'Meaning'], rows, ' described')}
</div>
</details>`
}
