import { kindOf, type LeafField } from '../../model/definition/fields.ts'
import { ArgumentsError } from '../../service/command.ts'

/** Turns a cell as a spreadsheet writes it into one that every table can have. */
export type LocalCells = (field: LeafField, text: string) => string

/** Gregorian, with Western digits, as tables have them. */
const WESTERN = { calendar: 'gregory', numberingSystem: 'latn' } as const

/** True and false by language, as spreadsheets write them and as people do: Intl has no such data. */
const BOOLEANS: Readonly<Record<string, string>> = {
  cs: 'pravda nepravda ano ne',
  da: 'sand falsk ja nej',
  de: 'wahr falsch ja nein',
  es: 'verdadero falso sí no',
  fi: 'tosi epätosi kyllä ei',
  fr: 'vrai faux oui non',
  hu: 'igaz hamis igen nem',
  it: 'vero falso sì no',
  nb: 'sann usann ja nei',
  nl: 'waar onwaar ja nee',
  pl: 'prawda fałsz tak nie',
  pt: 'verdadeiro falso sim não',
  ru: 'истина ложь да нет',
  sv: 'sant falskt ja nej',
  tr: 'doğru yanlış evet hayır',
  uk: 'істина хибність так ні',
}

/**
 * Reads numbers (`1.234,50`), days and times (`24.06.2016 18:00`) and booleans (`WAHR`) of a locale; without one, only days and
 * times that begin with the year. Other cells stay as they are. A time without a zone is in the zone of this process.
 *
 * @throws {ArgumentsError} if Intl does not know the locale
 */
export function localCells(locale: string | undefined): LocalCells {
  const isLocal = locale !== undefined
  if (isLocal && !isKnown(locale))
    throw new ArgumentsError(`There is no locale ${locale}; one is de, or pt-BR`)
  const readNumber = isLocal ? numberReader(locale) : (text: string) => text
  const readTime = timeReader(locale)
  const words = isLocal ? (BOOLEANS[new Intl.Locale(locale).language] ?? '').split(' ') : []
  return (field, text) => {
    const kind = kindOf(field)
    if (kind.isMeasurable) return readNumber(text)
    const { type, format } = kind.schema(field)
    if (kind.isTimed) return readTime(text, format === 'date')
    const index = type === 'boolean' ? words.indexOf(text.toLocaleLowerCase(locale)) : -1
    return index < 0 ? text : String(index % 2 === 0)
  }
}

function isKnown(locale: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(locale).length > 0
  } catch {
    return false
  }
}

const NUMBER = /^\+?([-\u2212]?)(\d{1,3}(?:,\d{2,3})*,\d{3}|\d+)(?:\.(\d+))?([eE][+-]?\d+)?$/

/** Spaces and apostrophes have several forms. */
const plain = (character: string) => character.replace(/\s/, ' ').replace('’', "'")

function numberReader(locale: string): (text: string) => string {
  const parts = new Intl.NumberFormat(locale, WESTERN).formatToParts(1_234_567.8)
  const signOf = (type: string) => plain(parts.find((part) => part.type === type)?.value ?? '')
  const [group, decimal] = [signOf('group'), signOf('decimal')]
  const inEnglish = (character: string) => {
    if (plain(character) === decimal) return '.'
    if (plain(character) === group) return ','
    return /[.,]/.test(character) ? '' : character
  }
  return (text) => {
    const [found, sign, digits = '', fraction, exponent = ''] =
      NUMBER.exec([...text].map(inEnglish).join('')) ?? []
    if (found?.length !== text.length) return text
    const point = fraction === undefined ? '' : `.${fraction}`
    return (sign ? '-' : '') + digits.replaceAll(',', '') + point + exponent
  }
}

const DAY = /^(\d{1,4})[-./ ]{1,2}(\d{1,2})[-./ ]{1,2}(\d{1,4})\.?/
const TIME = /^[ T,]{1,2}(\d{1,2}):([0-5]\d)(?::([0-5]\d)(?:[.,](\d{1,3}))?)?(?:\s?([ap])\.?\s?m\.?)?$/i

/** PostgreSQL writes a space where ISO 8601 has a T, and no minutes of a zone. */
const inIso = (text: string) =>
  text.replace(/^([\d-]{10}) (?=\d\d:)/, '$1T').replace(/:[\d.]+[+-]\d\d$/, '$&:00')

/** Without a locale, a day alone stays as it is: midnight in UTC, as in requests. */
function timeReader(locale: string | undefined): (text: string, isDay: boolean) => string {
  const parts = locale === undefined ? [] : new Intl.DateTimeFormat(locale, WESTERN).formatToParts(0)
  const local = parts.flatMap(({ type }) => (['year', 'month', 'day'].includes(type) ? [type] : []))
  return (text, isDay) => {
    const [begin = '', ...numbers] = DAY.exec(text) ?? []
    const rest = text.slice(begin.length)
    const [, hours = '0', minutes = '0', seconds = '0', part = '0', half] = TIME.exec(rest) ?? []
    const order = numbers[0]?.length === 4 ? ['year', 'month', 'day'] : local
    const [year = '', month = '', day = ''] = ['year', 'month', 'day'].map(
      (one) => numbers[order.indexOf(one)],
    )
    const isWhole = year.length === 4 && (rest === '' ? isDay || locale !== undefined : TIME.test(rest))
    const hour = half ? (Number(hours) % 12) + (/p/i.test(half) ? 12 : 0) : Number(hours)
    const time = [hour, Number(minutes), Number(seconds), Number(part.padEnd(3, '0'))] as const
    const moment = new Date(Number(year), Number(month) - 1, Number(day), ...time)
    const isReal = moment.getMonth() === Number(month) - 1 && moment.getDate() === Number(day)
    if (!isWhole || !isReal || (isDay && time.some((number) => number > 0))) return inIso(text)
    return isDay ? `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}` : moment.toISOString()
  }
}
