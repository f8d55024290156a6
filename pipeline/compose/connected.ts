/** The languages that pages can use on this server. */

import { compositionError, named } from './failure.ts'
import type { Languages } from './languages.ts'
import { renderLiquid } from './liquid.ts'
import { isSessel } from './schemas.ts'
import { bindSessel, callSessel } from './sessel.ts'

export function pageLanguages(): Languages {
  return {
    sessel: bindSessel,
    javascript: () => unavailable('JavaScript'),
    method(run) {
      const { type } = run.code
      return isSessel(type, run.dispatch.composing.site.settings.ns) ? callSessel(run) : unavailable(named(type))
    },
    template: renderLiquid,
  }
}

function unavailable(what: string): never {
  throw compositionError(`${what} is not available on this server.`)
}
