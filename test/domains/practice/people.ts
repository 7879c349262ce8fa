import { date, defineResource, text } from 'halgraph/domain'

export const people = defineResource({
  kind: 'collection',
  name: 'Person',
  path: 'people',
  description: 'Somebody whom the practice treats.',
  title: ({ family_name: family, given_name: given }) => `${family}, ${given ?? 'unknown'}`,
  columns: ['family_name', 'given_name', 'born_on'],
  one: 'patient',
  many: 'patients',
  fields: {
    family_name: text('Family name.', { required: true, index: 'sort' }),
    given_name: text('Given name.'),
    born_on: date('Date of birth.'),
    phone: text('Telephone number.', { maximumLength: 20 }),
  },
})
