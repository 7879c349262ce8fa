import type { Domain } from 'halgraph/domain'
import { animals, passport, visits, weighings } from './animals.ts'
import { keepers, stays, treatments } from './keepers.ts'

export const domain: Domain = {
  title: 'Animal clinic',
  description: 'Animals, their owners and their treatments. The tests of access say who may see what.',
  resources: [keepers, animals, visits, passport, weighings, stays, treatments],
}
