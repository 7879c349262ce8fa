export function isObject(value: unknown): value is { readonly [member: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

/** Whether PostgreSQL can store a text: it accepts neither U+0000 nor lone surrogates. */
export function isStorable(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed()
}

/** An object with the same members, whose values are changed. */
export function mapped<From, To>(
  members: Readonly<Record<string, From>>,
  change: (value: From, name: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, change(value, name)]))
}
