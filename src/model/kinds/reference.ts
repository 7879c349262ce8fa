import { checkText, type FieldOf, type FieldOptions, type Kind, TEXT_DEFAULTS } from './kind.ts'

export interface ReferenceField extends FieldOf<'reference'> {
  readonly to: string
  readonly relation: string
  readonly inverse?: string
  readonly nested?: true
  readonly onDelete?: 'restrict' | 'cascade' | 'set null'
}

/** Longer than an identifier, so that values that no resource has are reported as unknown, not as too long. */
const MAXIMUM_LENGTH = 500

const IDENTIFIER_CHARACTERS = 64

export const referenceKind: Kind<ReferenceField> = {
  type: 'reference',
  guide: {
    field: reference('authors', 'author', 'Author.', { nested: true }),
    code: "reference('authors', 'author', 'Author.', { nested: true })",
    options: {
      to: 'The path of the collection whose identifiers the field holds.',
      relation: 'The link relation to the target, and (in camel case) the GraphQL field.',
      inverse:
        'Names the list of these resources in the links, `embed` and GraphQL of the target, such as `works`; by default the path of this resource. Of several references to one collection, all but one need it.',
      nested:
        'Also lists the resource below its target, at `/authors/{id}/books`: one reference to each collection at most.',
      onDelete:
        'What deleting the target does: `restrict` (the default) refuses, `cascade` deletes this resource, `set null` unsets the field.',
    },
  },
  ...TEXT_DEFAULTS,
  scalar: 'ID',
  hasFewValues: true,
  schema: () => ({ type: 'string', maxLength: MAXIMUM_LENGTH }),
  characters: () => IDENTIFIER_CHARACTERS,
  check: (_, value) => checkText(value, MAXIMUM_LENGTH),
  fromQuery: (_, text) => checkText(text, MAXIMUM_LENGTH),
  control: () => ({ type: 'text' }),
  sample: () => '019a3c52-7d1e-7b42-9c53-2f6f4a1d8e02',
}

export function reference(
  to: string,
  relation: string,
  description: string,
  options: FieldOptions & Pick<ReferenceField, 'inverse' | 'nested' | 'onDelete'> = {},
): ReferenceField {
  return { type: 'reference', to, relation, description, ...options }
}
