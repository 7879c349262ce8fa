/** A text of TypeScript. */
export function quoted(text: string): string {
  const inDouble = JSON.stringify(text)
  return /[\\']/.test(inDouble) ? inDouble : `'${inDouble.slice(1, -1)}'`
}

/** `order_items` for `OrderItems`, `orderItems` and `Order Items`. */
export function wireName(name: string): string {
  const words = name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_').split(/[^A-Za-z0-9]+/)
  const joined = words.filter((word) => word !== '').join('_')
  return joined.replace(/^(?=\d)/, 'n').toLowerCase()
}

/** The last argument of a call. */
export function optionsText(options: readonly string[]): string {
  return options.length > 0 ? `, { ${options.join(', ')} }` : ''
}
