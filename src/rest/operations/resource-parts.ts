import { callerOf } from '../../http/auth/authenticate.ts'
import type { Context } from '../../http/context.ts'
import { link } from '../../http/headers.ts'
import type { Handler } from '../../http/routes.ts'
import type { Resource, Values } from '../../model/definition/resource.ts'
import { DEFAULT_PAGE_SIZE } from '../../model/query/query.ts'
import { stateHeaders, titleVariant } from '../conditional.ts'
import { createForms, type Templates, variantOf } from '../forms.ts'
import { createHal, type Occasion } from '../hal.ts'
import type { HeaderLink, LinkContext, ResourceOperation, ResourcePath, RestParts } from '../operation.ts'
import { listQueryParser } from '../parse-list-query.ts'
import type { Viewer } from '../respond.ts'
import { selectionParser } from '../selection.ts'
import type { Urls } from '../urls.ts'

export type ResourceParts = ReturnType<typeof resourceParts>

/** An operation that reads. */
export interface ReadOperation extends ResourceOperation {
  handler(parts: ResourceParts, place: ResourcePath): Handler
}

/**
 * What the operations on one resource have in common.
 *
 * @param operations those that its representations offer as templates
 */
export function resourceParts(
  resource: Resource,
  parts: RestParts,
  operations: readonly ResourceOperation[],
) {
  const { resources, settings } = parts
  const pageSize = Math.min(DEFAULT_PAGE_SIZE, settings.maximumPageSize)
  const hal = createHal(resource, resources)
  const parseSelection = selectionParser(resource, resources, pageSize)
  const forms = createForms(resource, resources, operations)
  const templatesOf = (data: Values, { caller, urls, hasTemplates }: Viewer) =>
    hasTemplates ? forms.resource(caller, data, urls) : undefined
  return {
    ...parts,
    resource,
    hal,
    forms,
    templatesOf,
    parseSelection,
    parseListQuery: listQueryParser(resource, settings.maximumPageSize, parseSelection),
    /** The headers and the document of a representation. */
    represent(data: Values, occasion: Occasion, viewer: Viewer) {
      const templates = templatesOf(data, viewer)
      const ofForms = templates ? [forms.variant, variantOf(templates)] : []
      const variants = [resource.variant, titleVariant(resource, data), ...ofForms]
      return {
        headers: stateHeaders(data, variants.filter((one) => one !== undefined).join(':') || undefined),
        document: () => withTemplates(hal.resource(data, occasion, viewer.urls), templates),
      }
    },
  }
}

export function withTemplates(document: object, templates: Templates | undefined): object {
  return Object.keys(templates ?? {}).length === 0 ? document : { ...document, _templates: templates }
}

/** Makes the function that adds the links in headers to a list or a resource. */
export function linker(on: HeaderLink['on'], { links, resource }: ResourceParts) {
  const added = links.filter((one) => one.on === on)
  return (ctx: Context, urls: Urls, page?: LinkContext['page']): void => {
    for (const { relation, target } of added) {
      const of = { resource, caller: callerOf(ctx), urls, params: ctx['params'], ...(page && { page }) }
      const href = target(of)
      if (href !== undefined) ctx.append('Link', link(href, relation))
    }
  }
}
