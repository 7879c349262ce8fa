/** HTML that is safe to insert into a page. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | undefined | readonly Part[]

/** A template tag that escapes inserted values, except those made by this tag. */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(String.raw({ raw: literals }, ...parts.map(rendered)))
}

function rendered(part: Part): string {
  if (part === undefined) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(rendered).join('')
  return String(part).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
