/** A response that a program throws (SES-180). */

import { itemsWithin } from '../../tree/microdata.ts'
import { modelValue } from '../../tree/microdata-value.ts'
import type { ElementValue } from '../values.ts'
import type { ThrownResponse } from './failure.ts'

export function thrownResponse({ node }: ElementValue): ThrownResponse {
  const properties = itemsWithin(node, modelValue(''))[0]?.properties ?? []
  const text = (name: string) => {
    const value = properties.find(property => property.name === name)?.value
    return typeof value === 'string' ? value : undefined
  }
  const status = Number(text('status') ?? '500')
  return {
    status: Number.isInteger(status) && status >= 200 && status <= 599 ? status : 500,
    body: text('body') ?? text('message') ?? '',
    headers: properties.flatMap(({ name, value }) => {
      if (name !== 'header' || typeof value === 'string') return []
      const part = (wanted: string) => {
        const found = value.properties.find(property => property.name === wanted)?.value
        return typeof found === 'string' ? found : ''
      }
      return part('key') === '' ? [] : [[part('key'), part('value')] as const]
    }),
  }
}
