/** The languages that pages can use on this server. */

import { isScript } from '../evaluation/scripts.ts'
import type { JavaScript } from '../language/javascript/interface.ts'
import { compositionError, named } from './failure.ts'
import type { Languages } from './languages.ts'
import { renderLiquid } from './liquid.ts'
import { isSessel } from './schemas.ts'
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
      return isScript(type, ns) ? callScript(javascript, run) : unavailable(named(type))
    },
    template: renderLiquid,
  }
}

function unavailable(what: string): never {
  throw compositionError(`${what} is not available on this server.`)
}
