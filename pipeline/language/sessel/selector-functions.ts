/** Functions in selectors of programs (COMP-139). They look where a bare selector of the program looks. */

import { normalForm } from '../../tree/normal-form.ts'
import { type FunctionCall, functionCalls, replaced, resultOf } from '../../tree/selector/selector.ts'
import { ElementValue, isList, type Value } from '../values.ts'
import { attributeOf } from './dom.ts'
import { collapsedText, elementValue } from './element-text.ts'
import type { Evaluation, Work } from './evaluation.ts'

/**
 * @param find finds the elements of a selector without functions
 * @returns the selector with the results in their places
 * @throws SelectorError where a function has no end, or finds several elements where it needs one
 */
export function* withoutFunctions(text: string, find: (selector: string) => Work, on: Evaluation): Work<string> {
  on.spend(text.length >> 6)
  const calls = functionCalls(text)
  const results: string[] = []
  for (const call of calls) {
    const found: Value = yield* find(call.selector)
    const elements = found !== null && isList(found) ? found : []
    const [first] = elements
    results.push(resultOf(call, elements.length, () => (first instanceof ElementValue ? said(call, first, on) : '')))
  }
  return replaced(text, calls, results)
}

function said({ name, attribute }: FunctionCall, element: ElementValue, on: Evaluation): string {
  if (name === 'attr-of') return attributeOf(element.node, attribute ?? '') ?? ''
  const text = name === 'text-of' ? collapsedText(element.node, on.spend) : elementValue(element, on.spend)
  return normalForm(text ?? '')
}
