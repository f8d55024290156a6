/** The languages that pages can use on this server. */

import { isSessel } from '../evaluation/schemas.ts'
import { isScript } from '../evaluation/scripts.ts'
import { Fault } from '../fault.ts'
import type { JavaScript } from '../language/javascript/interface.ts'
import { named } from './failure.ts'
import type { Languages } from './languages.ts'
import { renderLiquid } from './liquid.ts'
import { bindScript, callScript } from './script.ts'
import { bindSessel, callSessel } from './sessel.ts'

export function pageLanguages(javascript: JavaScript): Languages {
  return {
    sessel: bindSessel,
    javascript: (expression, dispatch) => bindScript(javascript, expression, dispatch),
    method(run) {
      const { type } = run.code
      const { ns } = run.dispatch.composing.site.settings
      if (isSessel(type, ns)) return callSessel(run)
      return isScript(type, ns) ? callScript(javascript, run) : unknownLanguage(type)
    },
    template: renderLiquid,
  }
}

/** JS-2: code that nobody here can read. */
function unknownLanguage(type: string): never {
  const failure = { language: named(type), variant: 'unknown-language' as const, message: 'The language is not known.' }
  throw new Fault(500, 'BindingFailure', `${named(type)} is not available on this server.`, { failure })
}
