import { KINDS, type LeafField } from '../../src/model/definition/fields.ts'
import { COMMON_EXAMPLES, COMMON_OPTIONS, type FieldOf, type Kind } from '../../src/model/kinds/kind.ts'

/** The text of docs/FIELDS.md. */
export function fieldsDocument(): string {
  return `${[
    '# Fields',
    'Definitions import these functions from `halgraph/domain`. Each takes a description, which the documents show, and ' +
      'options. `npm run docs` generates this page from the kinds in `src/model/kinds/`. A `group` is an object of fields.',
    '## Options of all fields',
    optionTable(COMMON_OPTIONS, COMMON_EXAMPLES),
    ...KINDS.map(section),
    '## group',
    "```ts\norbit: group('Orbit of the planet.', {\n  days: magnitude('Duration, in days.', { required: true }),\n" +
      "  eccentricity: number('Eccentricity.'),\n})\n```",
    'An object of fields; the third parameter has its options `label`, `since`, `until`, `readScope` and `writeScope`, which ' +
      'the members inherit. It is omitted if none of its members is set, and required if one of them is. Its members are ' +
      '`orbit.days` in filters and sorts of REST, columns like `orbit_days` in the database, and cannot be groups.',
    '`magnitude(description, { label, unit })` is a `number` that cannot be negative.',
  ].join('\n\n')}\n`
}

function section(kind: Kind<FieldOf<LeafField['type']>>): string {
  const { type, guide, columnType, columnParameters, scalar, operators } = kind
  const { field, code, options } = guide
  const facts = {
    'In JSON': `\`${JSON.stringify(kind.sample(field, 'name', 1))}\``,
    'JSON Schema': `\`${JSON.stringify(kind.schema(field)).replaceAll('|', '\\|')}\``,
    PostgreSQL: `\`${columnType.replace(/ COLLATE.*/, '')}${columnParameters?.(field) ?? ''}\``,
    GraphQL: scalar
      ? `\`${typeof scalar === 'string' ? scalar : scalar.name}\``
      : kind.itemOf
        ? 'a list of the type of the items'
        : 'an enumeration',
    Filters: operators.length > 0 ? operators.map((operator) => `\`${operator}\``).join(', ') : 'none',
    Sorting: operators.length > 0 && !kind.isUnordered ? 'yes' : 'no',
    Aggregates:
      [
        ...(kind.isRarelyShared ? [] : ['groups and distinct counts']),
        ...(kind.isTimed ? ['periods'] : []),
        ...(kind.isMeasurable
          ? [`${kind.isExact ? 'exact ' : ''}minimum, maximum, average, sum and median`]
          : []),
      ].join(', ') || 'none',
  }
  const rows = Object.entries(facts).map(([name, fact]) => `| ${name} | ${fact} |`)
  return [
    `## ${type}`,
    `\`\`\`ts\n${code}\n\`\`\``,
    ['| | |', '|---|---|', ...rows].join('\n'),
    ...(Object.keys(options).length > 0 ? [optionTable(options)] : []),
  ].join('\n\n')
}

function optionTable(options: Readonly<Record<string, string>>, examples?: Readonly<Record<string, string>>) {
  const rows = Object.entries(options).map(
    ([name, text]) =>
      `| \`${name}\` | ${text.replaceAll('|', '\\|')} |${examples ? ` \`${examples[name]}\` |` : ''}`,
  )
  const header = examples
    ? ['| Option | Meaning | Example |', '|---|---|---|']
    : ['| Option | Meaning |', '|---|---|']
  return [...header, ...rows].join('\n')
}
