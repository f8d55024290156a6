/** What this server adds to the selectors of CSS (COMP-134 to COMP-138); `:only()` is part of the grammar itself. */
import { typesOf } from '../microdata.ts'
import { attribute } from '../nodes.ts'
import { CONTENT_CLASSES, malformed, tokensOf } from './content.ts'
import type { Extension, Extensions } from './extension.ts'

/** Whether an item type is another one, or descends from it. */
export type IsA = (type: string, ancestor: string) => boolean

/**
 * @param isa decides `:isa()`; without it that matches nothing
 * @returns one set for everybody who shares `isa`: compiled selectors are kept by it
 */
export function additions(isa: IsA = () => false): Extensions {
  return new Map([...CONTENT_CLASSES, ['isa', typeClass(isa)]])
}

/** COMP-138: `:isa('url')`. */
function typeClass(isa: IsA): Extension {
  return {
    compile(argument) {
      const type = typeNamed(argument)
      return (element, context) => {
        const written = attribute(element, 'itemtype')
        if (written === undefined) return false
        context.spend(written.length >> 2)
        return typesOf(element).some(own => isa(own, type))
      }
    },
  }
}

/** The type that the argument of `:isa()` names. @throws SelectorError */
export function typeNamed(argument: string): string {
  const [url, ...more] = tokensOf(argument)
  if ((url?.type !== 'string' && url?.type !== 'ident') || more.length > 0) throw malformed(argument)
  return url.value
}
