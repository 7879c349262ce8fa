const MONTHS = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec'
const TIME = '(?<time>\\d\\d:\\d\\d:\\d\\d)'

/** The three forms of a date: the current one, and two that are obsolete but must be read. */
const FORMS = [
  `[A-Z][a-z]{2}, (?<day>\\d\\d) (?<month>${MONTHS}) (?<year>\\d{4}) ${TIME} GMT`,
  `[A-Z][a-z]{5,8}, (?<day>\\d\\d)-(?<month>${MONTHS})-(?<year>\\d\\d) ${TIME} GMT`,
  `[A-Z][a-z]{2} (?<month>${MONTHS}) (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})`,
].map((form) => new RegExp(`^${form}$`))

/**
 * The moment that a header names (HTTP-date, RFC 9110 §5.6.7); undefined for what is no such date, which
 * conditions ignore (§13.1.3, §13.1.4).
 */
export function httpDate(text: string | undefined): Date | undefined {
  const matched = FORMS.map((form) => form.exec(text ?? '')).find((match) => match !== null)
  if (!matched) return undefined
  const { day, month, year = '', time } = matched.groups as Record<string, string>
  const date = new Date(`${day} ${month} ${year.length === 2 ? century(year) : ''}${year} ${time} GMT`)
  // JavaScript takes the 31st of February for the 3rd of March.
  return date.getUTCDate() === Number(day) ? date : undefined
}

/** Of a year of two digits: one that seems more than 50 years ahead is past (RFC 9110 §5.6.7). */
function century(year: string): string {
  const now = new Date().getUTCFullYear()
  const current = Math.floor(now / 100)
  return String(current * 100 + Number(year) > now + 50 ? current - 1 : current)
}
