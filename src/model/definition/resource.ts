import type { AccessRules } from '../access/access-rules.ts'
import type { Detail, DomainError, Explanation } from '../errors.ts'
import type { ChangeOf, DatabaseRule } from './database-rule.ts'
import type { Field, Fields, LeafField } from './fields.ts'
import { noun } from './labels.ts'
import type { ValuesOf } from './typed.ts'

/** Values by field name: a representation (wire names, without unset fields), an input, a result. */
export type Values = { readonly [field: string]: unknown }

/** Validates a whole resource. `before` is its previous state, undefined for a new resource. */
export type Rule<Checked = Values> = (values: Checked, before: Checked | undefined) => readonly Detail[]

/** What a caller may read of a resource, in JSON. */
type ReadableValues<Of> = Partial<ValuesOf<NoInfer<Of>, 'json'>>
/** A body, which may lack required fields. */
type SentValues<Of> = Partial<ValuesOf<NoInfer<Of>, 'stored'>>
/** A body that is valid by itself. */
type ValidValues<Of> = ValuesOf<NoInfer<Of>, 'stored'>

/**
 * The definition of a resource, from which everything else is derived. Its rules have the types of its fields.
 *
 * `npm run docs` writes docs/RESOURCES.md from these comments; a test compiles the examples.
 *
 * @example
 * export const rooms = defineResource({
 *   kind: 'collection',
 *   name: 'Room',
 *   path: 'rooms',
 *   description: 'A room for rent.',
 *   fields: { name: text('Name.', { required: true, unique: true }) },
 * })
 *
 * export const bookings = defineResource({
 *   kind: 'collection',
 *   name: 'Booking',
 *   path: 'bookings',
 *   description: 'A booking of a room.',
 *   fields: {
 *     guest: text('Name of the guest.', { required: true }),
 *     room_id: reference('rooms', 'room', 'Identifier of the room.', { required: true }),
 *     first_day: date('First day.', { required: true }),
 *     last_day: date('Last day.', { required: true }),
 *     booked_by: text('Subject of who has booked.', { readOnly: true, initially: ({ subject }) => subject }),
 *   },
 * })
 */
export interface ResourceDefinition<Of extends Fields = Fields> {
  /**
   * What a resource belongs to (SPEC §1.2). A `collection` stands by itself, at `/bookings/{id}`. An `owned` resource belongs
   * to a parent, at `/rooms/{id}/bookings/{id}`, and is deleted with it. A `singleton` exists at most once for each parent,
   * at `/rooms/{id}/booking`.
   */
  readonly kind: 'collection' | 'owned' | 'singleton'
  /** The singular, in upper camel case. It names the GraphQL type and the Prisma model: `Species`, `TrainingRecord`. */
  readonly name: string
  /**
   * The last fixed segment of its URL: a plural noun in lower case, of a singleton the singular. It also names the scopes
   * (`bookings:read`) and the table.
   */
  readonly path: string
  /**
   * The former `path` of a renamed resource. `npx halgraph resource migrate` then keeps the rows with their versions.
   * @example renamedFrom: 'reservations'
   */
  readonly renamedFrom?: string
  /** A sentence for the OpenAPI document, the GraphQL schema and the reference. */
  readonly description: string
  /**
   * The parent of an `owned` resource or a `singleton`: a resource that can be listed. A `collection` has none.
   * The service then adds the identifier of the parent, here `room_id`.
   * @example
   * kind: 'owned',
   * owner: rooms,
   * fields: { guest: text('Name of the guest.', { required: true }) },
   */
  readonly owner?: Resource
  /**
   * The fields, in the order of representations and of reported problems. [FIELDS.md](FIELDS.md) lists their kinds. The
   * service adds `id`, the time of creation and `last_updated`.
   */
  readonly fields: Of
  /**
   * What names a resource for people, on pages, in the `title` of `self` links and as `displayName` in GraphQL: a field, a
   * list of fields, or a function of the values that the caller may read, in JSON: a day is `2031-06-01`, a time is in UTC.
   * Pages show both in the zone and the language of their reader. In a list, a link relation (`room`, or `parent` for the owner)
   * stands for the title of that resource without its relations, which searches (`q`) find, too.
   * @default the field `name`, `title`, `label` or `subject`, or else the first required text
   * @example title: ({ guest, first_day }) => `${guest}, ${first_day}`
   */
  readonly title?: string | readonly string[] | ((values: ReadableValues<Of>) => string)
  /**
   * The fields that lists show on pages, in their order.
   * @default the first few
   * @example columns: ['first_day', 'last_day', 'guest']
   */
  readonly columns?: readonly string[]
  /**
   * The noun for one resource in forms, documents and on pages.
   * @default `name` in words
   * @example one: 'stay'
   */
  readonly one?: string
  /**
   * The noun for several resources.
   * @default `path` in words
   * @example many: 'stays'
   */
  readonly many?: string
  /**
   * The body of POST in the documents. The other examples are those of the seed file, if it has some.
   * @default generated from the fields
   * @example example: { guest: 'Ama Lindqvist', room_id: 'library', first_day: '2031-06-01', last_day: '2031-06-02' }
   */
  readonly example?: Values
  /**
   * The name of the field with the time of creation.
   * @default `created_date`
   * @example createdField: 'booked_date'
   */
  readonly createdField?: string
  /**
   * Resources can be created and deleted but not changed: there is no PUT and no PATCH, and no mutation for them.
   * @example appendOnly: true
   */
  readonly appendOnly?: true
  /**
   * An index on all texts together, for `q` and for conditions on parts of texts (`[contains]`, `[icontains]`, `[prefix]`).
   * It needs the extension pg_trgm.
   * @example searchIndex: true
   */
  readonly searchIndex?: true
  /**
   * An index on `last_updated`, for lists in the order of changes.
   * @example updatedIndex: true
   */
  readonly updatedIndex?: true
  /**
   * Generated identifiers are UUIDs of version 4, which do not reveal the order of creation (SPEC §2.5.7). Otherwise they
   * are UUIDs of version 7, which are ordered by time and cheaper to index.
   * @example randomIdentifiers: true
   */
  readonly randomIdentifiers?: true
  /**
   * Rules that need only the body, which may lack required fields. Each returns the problems that it finds. They are reported
   * together with those of the fields, with status 400.
   * @example
   * checks: [
   *   ({ first_day, last_day }) =>
   *     !first_day || !last_day || first_day <= last_day
   *       ? []
   *       : [{ field: 'last_day', code: 'INVALID_RANGE', message: 'last_day must not be before first_day.' }],
   * ]
   */
  readonly checks?: readonly Rule<SentValues<Of>>[]
  /**
   * Rules for valid bodies, which can compare with the previous values: `before` is undefined for a new resource. The
   * problems are reported with status 422.
   * @example
   * rules: [
   *   ({ room_id }, before) =>
   *     !before || before.room_id === room_id
   *       ? []
   *       : [{ field: 'room_id', code: 'ROOM_FIXED', message: 'A booking keeps its room.' }],
   * ]
   */
  readonly rules?: readonly Rule<ValidValues<Of>>[]
  /**
   * A rule that reads or writes other rows, in the transaction of each write, deletions included.
   * [DOMAINS.md](DOMAINS.md#a-rule-that-reads-other-resources) explains it, and [the guide to rules](guides/rules.md) has
   * recipes.
   * @example
   * databaseRule: async ({ client, after }) => {
   *   if (!after) return
   *   const text = 'SELECT name FROM rooms WHERE id = $1 FOR SHARE'
   *   const [room] = await client.$rows<{ name: string }>({ text, values: [after.room_id] })
   *   const message = 'The attic cannot be booked.'
   *   if (room?.name === 'Attic') refuseRuleViolation([{ field: 'room_id', code: 'ROOM_CLOSED', message }])
   * }
   */
  readonly databaseRule?: DatabaseRule<ChangeOf<NoInfer<Of>>>
  /**
   * Which rows a caller may read, create, change and delete, besides the scopes of its token
   * ([guide](guides/access.md)).
   * @default all rows
   * @example access: { change: ({ subject }) => ({ booked_by: { equals: subject } }) }
   */
  readonly access?: AccessRules
  /**
   * The codes of details that only these rules report, for the list of error codes and the OpenAPI document.
   * @example detailCodes: { ROOM_CLOSED: { cause: 'The room cannot be booked.', remedy: 'Choose another room.' } }
   */
  readonly detailCodes?: Readonly<Record<string, Explanation>>
}

/** A field that holds one value, with its path in the representation and its column. */
export interface Leaf {
  /** Dotted, as filters and error details name it: `temperature_range.min_celsius`. */
  readonly name: string
  readonly path: readonly string[]
  readonly column: string
  /** For people, with the group and the unit: `Temperature range: Minimum (°C)`. */
  readonly label: string
  readonly field: LeafField
}

export interface Resource extends ResourceDefinition {
  readonly createdField: string
  /** It can be listed, and created with a generated identifier. */
  readonly listed: boolean
  /** It can be replaced and patched. All resources can be read and deleted (SPEC §4). */
  readonly replaceable: boolean
  /** All fields of a representation in order: the identifiers, the definition's own, the timestamps. */
  readonly allFields: Readonly<Record<string, Field>>
  /** The fields of a REST representation. GraphQL has all fields. */
  readonly shownFields: Readonly<Record<string, Field>>
  /** The shown fields that a caller can set: groups without their read-only members. */
  readonly writableFields: Readonly<Record<string, Field>>
  /** The leaves of `allFields`: groups are replaced with their members. */
  readonly leaves: readonly Leaf[]
  readonly shownLeaves: readonly Leaf[]
  readonly writable: readonly Leaf[]
  /** The wire name of the parent's identifier, such as `planet_id`. */
  readonly parentField: string | undefined
  /** Some of its fields are only in some versions of the API. */
  readonly hasApiVersions: boolean
  /** The version of the API that this is a view for (`views.ts`); undefined for the resource itself. */
  readonly apiVersion?: string
  /** The scopes that its fields need besides those of the resource, sorted. */
  readonly fieldScopes: readonly string[]
  /** In a view for a caller: the fields that the caller cannot read or write, and what says which scope it lacks. */
  readonly withheld?: readonly { readonly leaf: Leaf; refusal(): DomainError }[]
  /** In a view for a caller: the scopes of fields that the caller has, as a text; undefined without any. */
  readonly variant?: string
}

/** The table of a collection, which is also the prefix of its constraints. */
export function tableName(path: string): string {
  return path.replaceAll('-', '_')
}

/** `planet_id` */
export function identifierField(resource: Pick<ResourceDefinition, 'name'>): string {
  return `${noun({ name: resource.name }).replaceAll(' ', '_')}_id`
}
