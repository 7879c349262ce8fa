interface OperatorDefinition {
  /** Its name in query strings, if different. */
  readonly parameter?: string
  readonly description: string
  /** The operand, if it is not one value of the field. */
  readonly operand?: 'values' | 'text' | 'boolean'
}

/**
 * The operators of filters by their names in GraphQL. Only `notEquals` and `isSet` match an unset field. Kinds of fields
 * list theirs, and `database/sql/filter.ts` has the condition of each.
 */
const OPERATORS = {
  equals: { description: 'Equal to this value.' },
  notEquals: { parameter: 'ne', description: 'Not equal to this value, or unset.' },
  in: { description: 'Equal to one of these values.', operand: 'values' },
  isSet: { parameter: 'set', description: 'Whether it has a value.', operand: 'boolean' },
  contains: { description: 'Contains this text, case-sensitive.', operand: 'text' },
  containsInsensitive: {
    parameter: 'icontains',
    description: 'Contains this text, regardless of case.',
    operand: 'text',
  },
  startsWith: {
    parameter: 'prefix',
    description: 'Begins with this text, case-sensitive.',
    operand: 'text',
  },
  gt: { description: 'Greater or later than this value.' },
  gte: { description: 'Equal to this value, or greater or later.' },
  lt: { description: 'Less or earlier than this value.' },
  lte: { description: 'Equal to this value, or less or earlier.' },
} as const satisfies Record<string, OperatorDefinition>

export type Operator = keyof typeof OPERATORS

export function operatorDefinition(operator: Operator): OperatorDefinition {
  return OPERATORS[operator]
}

/** By the name in `field[name]:value`; equality needs none. */
export function namedOperators(operators: readonly Operator[]): ReadonlyMap<string, Operator> {
  const named = operators.filter((operator) => operator !== 'equals')
  return new Map(named.map((operator) => [operatorDefinition(operator).parameter ?? operator, operator]))
}
