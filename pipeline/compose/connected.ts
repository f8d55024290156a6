/** The languages that pages can use on this server. */

import { compositionError } from './failure.ts'
import type { Languages } from './languages.ts'
import { renderLiquid } from './liquid.ts'

export function pageLanguages(): Languages {
  return {
    sessel: () => unavailable('Expressions'),
    javascript: () => unavailable('Scripts'),
    method: () => unavailable('Methods'),
    template: renderLiquid,
  }
}

function unavailable(what: string): never {
  throw compositionError(`${what} are not available on this server.`)
}
