/** JavaScript as pages run it: `j:` bindings and methods (COMP-43, COMP-52, COMP-56, JS-11 to JS-15, JS-25 to JS-29). */

import { languagesOf } from '../evaluation/languages.ts'
import { scriptSchemas } from '../evaluation/script-schemas.ts'
import { scripts, viewFor } from '../evaluation/scripts.ts'
import { Fault } from '../fault.ts'
import type { JavaScript, ScriptJob } from '../language/javascript/interface.ts'
import { withoutValues } from '../language/told.ts'
import { ElementValue, type Value } from '../language/values.ts'
import { budgetFault, isSpent } from '../model/code.ts'
import type { Dispatch } from './composing.ts'
import type { MethodRun } from './languages.ts'
import { ContextValue } from './names.ts'
import type { MaybeLater } from './work.ts'

/** Members of `request` that say nothing about who asks (JS-28). */
const PLAIN = ['method', 'path', 'query', 'params']

/** The expression of an attribute. @throws Fault 500, 503 */
export function bindScript(javascript: JavaScript, expression: string, dispatch: Dispatch): MaybeLater<Value> {
  const job = jobFor(javascript, dispatch, expression)
  return run(javascript, { ...job, place: 'expression', document: viewFor(expression, scoped(dispatch)) }, dispatch)
}

/** A method: `this` is the dispatched element. @throws Fault 500, 503 */
export function callScript(javascript: JavaScript, { dispatch, code, arguments: bound }: MethodRun): MaybeLater<Value> {
  const { page } = dispatch.place
  const source = page && { path: page.file.resource.path, document: page.tree }
  const job: ScriptJob = {
    ...jobFor(javascript, dispatch, code.source),
    this: new ElementValue(dispatch.element, source),
    arguments: [...bound.values()],
    document: scoped(dispatch),
  }
  return run(javascript, job, dispatch)
}

function scoped({ composing, element, place }: Dispatch): NonNullable<ScriptJob['document']> {
  return { document: (place.page ?? composing.page).tree, scope: element }
}

function jobFor(javascript: JavaScript, { composing, place }: Dispatch, source: string): ScriptJob {
  const { site, allowance, request } = composing
  const others = languagesOf(site, allowance)
  return {
    site: site.store.name,
    ns: site.settings.ns,
    origin: place.holder.file.resource.path,
    place: 'method',
    source,
    // What a script does not mention it does not need.
    context: place.names.all(name => source.includes(name)),
    request,
    plainMembers: PLAIN,
    schemas: scriptSchemas(site, allowance, others, evaluate => scripts({ ...javascript, evaluate }), {
      context: new ContextValue(place.names, request),
    }),
  }
}

async function run(javascript: JavaScript, job: ScriptJob, { composing, place }: Dispatch): Promise<Value> {
  const outcome = await javascript.evaluate(job, composing.allowance)
  if ('value' in outcome) {
    for (const [name, value] of outcome.written) place.names.set(name, value)
    return outcome.value
  }
  if ('response' in outcome) throw new Error('A page cannot throw a response.')
  const { message } = outcome.failure
  // An `Error` is thrown by authors alone.
  const told = message.startsWith('Error: ') ? message : withoutValues(message, job.source)
  const failure = { ...outcome.failure, message: told }
  if (isSpent(failure)) throw budgetFault(failure)
  throw new Fault(500, 'BindingFailure', `A script of the page has failed: ${failure.message}`, { failure })
}
