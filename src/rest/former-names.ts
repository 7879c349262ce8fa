import { defineResource } from '../model/definition/define-resource.ts'
import { isIn } from '../model/definition/domain.ts'
import { definedName } from '../model/definition/fields.ts'
import type { Resource, Values } from '../model/definition/resource.ts'
import { remembered, viewOf } from '../model/definition/views.ts'
import { DomainError } from '../model/errors.ts'

/**
 * The view of a version of the API as REST has it: fields have the names that they had in it. Without such fields, this is
 * {@link viewOf}.
 */
export function restViewOf(resource: Resource, apiVersion: string | undefined): Resource {
  const view = viewOf(resource, apiVersion)
  const names = formerNames(view, apiVersion)
  if (names.size === 0) return view
  return remembered(resource, `${apiVersion} over REST`, () => {
    const named = (name: string) => names.get(name) ?? name
    const rename = (values: Values) =>
      Object.fromEntries(Object.entries(values).map(([name, value]) => [named(name), value]))
    const fields = Object.entries(view.fields).map(([name, field]) => {
      const { formerly, ...plain } = field
      return [named(name), names.has(name) ? { ...plain, definedAs: name } : plain]
    })
    const { example, columns, title, checks: _, ...definition } = view
    return {
      ...defineResource({
        ...definition,
        fields: Object.fromEntries(fields),
        ...(example && { example: rename(example) }),
        ...(columns && { columns: columns.map(named) }),
        ...(title && { title: typeof title === 'function' ? title : [title].flat().map(named) }),
      }),
      ...(view.apiVersion !== undefined && { apiVersion: view.apiVersion }),
    }
  })
}

/** By the names in the definition. */
function formerNames({ fields }: Resource, apiVersion: string | undefined): ReadonlyMap<string, string> {
  const entries = Object.entries(fields).flatMap(([name, { formerly }]): [string, string][] => {
    const isFormer = formerly && apiVersion !== undefined && isIn(apiVersion, { until: formerly.until })
    return isFormer ? [[name, formerly.name]] : []
  })
  return new Map(entries)
}

/** An error of the domain with the names that the fields of a view have. */
export function withFormerNames({ allFields }: Resource, error: unknown): unknown {
  const names = new Map(Object.entries(allFields).map(([name, field]) => [definedName(name, field), name]))
  const named = (text: string) => text.replace(/\w+/g, (word) => names.get(word) ?? word)
  const isFormer = [...names].some(([defined, name]) => defined !== name)
  if (!isFormer || !(error instanceof DomainError)) return error
  const details = error.details.map(({ field, code, message }) => {
    const [first = '', ...rest] = field.split('.')
    return { code, field: [names.get(first) ?? first, ...rest].join('.'), message: named(message) }
  })
  return Object.assign(new DomainError(error.code, named(error.message), details, error.current), {
    ...(error.related && { related: error.related }),
    ...(error.scope !== undefined && { scope: error.scope }),
  })
}
