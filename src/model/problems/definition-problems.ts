import type { Domain } from '../definition/domain.ts'
import { isAlwaysSet } from '../definition/fields.ts'
import { HAL_RELATIONS, linkedFrom, referenceLeaves } from '../definition/relations.ts'
import type { Resource } from '../definition/resource.ts'
import type { ReferenceField } from '../kinds/reference.ts'
import { accessProblems } from './access-problems.ts'
import { apiVersionProblems } from './api-version-problems.ts'
import { fieldProblems, objectMemberCases, problemsAt } from './field-problems.ts'

/** The definitions of a domain are not valid. The message has a line for each problem. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError'

  constructor(
    readonly problems: readonly string[],
    place?: string,
    options?: ErrorOptions,
  ) {
    const lines = [`The domain${place === undefined ? '' : ` in ${place}`} cannot be served:`, ...problems]
    super(lines.join('\n  '), options)
  }
}

/**
 * The problems of a domain, each as one line. TypeScript prevents others.
 *
 * @param domain the export `domain` of a module of definitions
 */
export function definitionProblems(domain: unknown): string[] {
  const { resources } = (domain ?? {}) as Partial<Domain>
  if (!Array.isArray(resources) || resources.length === 0)
    return ['The module must export `domain`, with at least one resource in `domain.resources`']
  return [
    ...repeated(resources, 'path'),
    ...repeated(resources, 'name'),
    ...resources.flatMap(pathProblems),
    ...resources.flatMap(fieldProblems),
    ...resources.flatMap((resource) => ownerProblems(resource, resources)),
    ...resources.flatMap((resource) => targetProblems(resource, resources)),
    ...apiVersionProblems(domain as Domain),
    ...accessProblems(domain as Domain),
  ]
}

function repeated(resources: readonly Resource[], property: 'path' | 'name'): string[] {
  const values = resources.map((resource) => resource[property])
  const others = new Set(values.filter((value, index) => values.indexOf(value) !== index))
  return [...others].map((value) => `Several resources have the ${property} ${JSON.stringify(value)}`)
}

/** What a URL and a table can be called. */
const PATH = /^[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*$/

/** Tables of the engine, and paths below the entry document. */
export const RESERVED_PATH =
  /^(profile|openapi|batch|changes|change.feed|recorded.changes|tombstones|tombstone.sets|row.counts|idempotency.keys)$/

function pathProblems({ path, name }: Resource): string[] {
  return problemsAt(path, [
    [
      !PATH.test(path),
      'a path has words of letters and digits, with hyphens between them, and begins with a letter',
    ],
    [RESERVED_PATH.test(path), 'this path is reserved'],
    ...objectMemberCases(path, `${name}`.charAt(0).toLowerCase() + `${name}`.slice(1)),
  ])
}

function ownerProblems(resource: Resource, resources: readonly Resource[]): string[] {
  const { path, kind, owner } = resource
  const isTop = kind === 'collection'
  const isBelow = owner !== undefined || referenceLeaves(resource).some(({ field }) => field.nested)
  return problemsAt(path, [
    [isBelow && path === 'versions', 'this path is reserved below a resource'],
    [isTop && owner !== undefined, `a resource of the kind ${kind} has no owner`],
    [!isTop && !owner, `a resource of the kind ${kind} needs an owner`],
    [
      !isTop && owner !== undefined && !resources.includes(owner),
      `its owner ${owner?.path} is not among the resources of the domain`,
    ],
  ])
}

function linkNames(resource: Resource, resources: readonly Resource[]): string[] {
  const { references, children, filtered } = linkedFrom(resource, resources)
  return [...references, ...children, ...filtered].map(({ relation }) => relation)
}

function targetProblems(resource: Resource, resources: readonly Resource[]): string[] {
  const { path, owner } = resource
  const references = referenceLeaves(resource)
  return references.flatMap(({ name, field }) => {
    const target = resources.find((resource) => resource.path === field.to)
    const isOwner = owner !== undefined && owner === target
    const others = references.filter((other) => other.name !== name && other.field.to === field.to)
    const inverseOf = (one: ReferenceField) => one.inverse ?? path
    const same = others.find((other) => inverseOf(other.field) === inverseOf(field))
    const clashing = same?.name ?? (isOwner && inverseOf(field) === path ? 'its parent' : undefined)
    const nested = others.find((other) => other.field.nested)?.name ?? (isOwner ? 'its parent' : undefined)
    const isNot = `${name} refers to ${field.to}, which is not`
    const isOwn = field.to === path
    return problemsAt(path, [
      [
        clashing !== undefined && resource.listed,
        `${name} refers to ${field.to}, as ${clashing} does: give one of them an \`inverse\`, which names its list in the links of ${field.to}`,
      ],
      [
        field.nested === true && nested !== undefined,
        `${name} cannot be nested: the list of ${nested} is already at /${field.to}/{id}/${path}`,
      ],
      [
        field.onDelete === 'set null' && isAlwaysSet(field),
        `${name} is always set, so onDelete cannot be 'set null'`,
      ],
      [!target, `${isNot} among the resources of the domain`],
      [target !== undefined && target.kind !== 'collection', `${isNot} a collection`],
      [
        isOwn && field.required === true,
        `${name} cannot be required: the first of ${path} has none to refer to`,
      ],
      ...inverseProblems(name, field, target && linkNames(target, resources)),
      [isOwn && field.nested === true, `${name} cannot be nested: ${path} would be listed below themselves`],
    ])
  })
}

/** @param links of the target, which include the inverse itself */
function inverseProblems(
  name: string,
  { inverse, to }: ReferenceField,
  links: readonly string[] = [],
): [boolean, string][] {
  if (inverse === undefined) return []
  const isRepeated = links.indexOf(inverse) < links.lastIndexOf(inverse)
  return [
    [
      !PATH.test(inverse),
      `inverse of ${name}: a name has words of letters and digits, with hyphens between them, and begins with a letter`,
    ],
    [Object.hasOwn(HAL_RELATIONS, inverse), `inverse of ${name}: ${inverse} is reserved`],
    [isRepeated, `inverse of ${name}: ${to} have another link ${inverse}`],
  ]
}
