import type { Domain } from 'halgraph/domain'
import { invoices, lines, reminders, replies } from './invoices.ts'
import { measurements, visits } from './measurements.ts'
import { outliers } from './outliers.ts'
import { glosses, senses } from './words.ts'

export const domain: Domain = {
  title: 'Workshop',
  description: 'What no other domain has.',
  resources: [measurements, outliers, glosses, senses, invoices, lines, reminders, replies, visits],
}
