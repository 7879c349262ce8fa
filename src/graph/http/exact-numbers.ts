import {
  type FloatValueNode,
  GraphQLError,
  GraphQLID,
  getNamedType,
  type IntValueNode,
  type ValidationRule,
} from 'graphql'
import { INEXACT } from '../../model/kinds/number.ts'
import { exactNumber } from '../../model/values.ts'

/** Refuses numbers in a document that graphql-js would change, because it reads them in double precision. */
export const exactNumbers: ValidationRule = (context) => {
  const check = (node: IntValueNode | FloatValueNode) => {
    // Identifiers are texts.
    if (getNamedType(context.getInputType()) === GraphQLID || Number.isFinite(exactNumber(node.value))) return
    const message = `The number ${node.value.slice(0, 100)} ${INEXACT}.`
    context.reportError(new GraphQLError(message, { nodes: node }))
  }
  return { IntValue: check, FloatValue: check }
}
