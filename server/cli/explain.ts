/** `scriptorium explain`: why a request would be allowed or refused (SEC-5). */

import { type AccessRule, missedTitle, principalNamed, requesterOf } from '../../pipeline/explain-request.ts'
import { Fault } from '../../pipeline/fault.ts'
import { type Call, type Command, UsageError } from './command.ts'
import type { Explanation, Question } from './commands.ts'
import { chosenSite, settingsOf, settingsOptions, siteOption } from './settings-options.ts'
import { entry, json } from './terminal.ts'

export const explain: Command = {
  name: 'explain',
  summary: 'Tell why a request would be allowed or refused',
  positionals: ['METHOD', 'PATH'],
  spelledOut: { METHOD: 'method', PATH: 'path' },
  options: {
    ...settingsOptions,
    ...siteOption,
    as: {
      type: 'string',
      value: 'WHO',
      doc: 'Principal: a user name or verified address; else nobody is signed in',
    },
    user: { type: 'string', short: 'u', value: 'SUB', doc: 'User name of the principal, whatever it looks like' },
    email: { type: 'string', value: 'EMAIL', doc: 'Verified email of the principal' },
    role: { type: 'string', multiple: true, value: 'ROLE', doc: 'Role of the principal; may be repeated' },
    method: { type: 'string', value: 'METHOD', doc: 'Another way to write METHOD' },
    path: { type: 'string', value: 'PATH', doc: 'Another way to write PATH' },
    selector: { type: 'string', value: 'SELECTOR', doc: 'Element that the request addresses' },
    json: { type: 'boolean', doc: 'Answer in JSON' },
  },
  details: [
    'Shows the rules that match the requester, the method and the path, by what they',
    'match, and which of them decide. Rules of the highest tier decide: 3 names the',
    'user, 1 an email, a group, a role or everybody signed in, 0 everybody.',
    '',
    'The exit code is 0 when the request would be allowed, and 1 when it would be refused.',
  ],
  examples: [
    [
      'scriptorium explain --as alice@example.com --method PUT --path /plan.html',
      'May whoever signs in with this address replace the page?',
    ],
    ['scriptorium explain PUT /plan.html', 'May an anonymous visitor replace the page?'],
    [
      "scriptorium explain --user u-7 --role editors --selector '#todo li' DELETE /plan.html",
      'May this editor remove the element?',
    ],
  ],
  async run(call) {
    const question = questionOf(call)
    const loaded = await settingsOf(call)
    const site = await chosenSite(call, loaded, 'explain')
    const explanation = await call.commands.explain(loaded.settings, { ...question, site }).catch(error => {
      throw error instanceof Fault ? new UsageError(error.message, 'explain') : error
    })
    const { output } = call.terminal
    if (call.args.flag('json')) json(output, JSON.stringify(explanation, null, 2))
    else for (const text of explanationLines(question, explanation)) entry(output, text)
    return explanation.allowed ? 0 : 1
  },
}

function questionOf({ args }: Call): Omit<Question, 'site'> {
  const [method = '', path = ''] = args.positionals
  if (!/^[A-Za-z-]+$/.test(method)) throw new UsageError(`"${method}" is no method; write METHOD PATH`, 'explain')
  if (!path.startsWith('/')) throw new UsageError(`"${path}" is no path: paths begin with /`, 'explain')
  const [as, given] = [args.text('as'), args.text('user')]
  if (as !== undefined && given !== undefined)
    throw new UsageError('--as and --user say the same; write one', 'explain')
  const named = as === undefined ? undefined : principalNamed(as)
  const user = given ?? named?.user
  const email = args.text('email') ?? named?.email
  const roles = args.texts('role')
  if (user === undefined && (email !== undefined || roles.length > 0)) {
    throw new UsageError('an email or role belongs to a principal: add --as', 'explain')
  }
  return { method: method.toUpperCase(), path, selector: args.text('selector'), user, email, roles }
}

function explanationLines(question: Omit<Question, 'site'>, explanation: Explanation): string[] {
  const { allowed, status, reason, rules, known, also, missed = [], findings = [] } = explanation
  const who = requesterOf(question)
  const what = `${question.method} ${question.path}${question.selector === undefined ? '' : ` (${question.selector})`}`
  const verdict = allowed ? 'allowed' : `${refusalOf(status)}${status === undefined ? '' : ` with ${status}`}`
  return [
    `${what} by ${who} is ${verdict}.`,
    reason,
    ...(also === undefined ? [] : [also]),
    ...(known.length > 0 ? [`Known as ${known.join(', ')}.`] : []),
    ...(rules.length > 0 ? ['', 'Rules for this requester, method and path, the deciding ones first:'] : []),
    ...rules.flatMap(ruleLines),
    ...(missed.length > 0 ? ['', `${missedTitle(allowed)}:`] : []),
    ...missed.flatMap(ruleLines),
    ...(findings.length > 0 ? ['', 'Declarations that may not say what they were meant to:'] : []),
    ...findings.map(finding => `  ${finding}`),
  ]
}

/** Who may know that nothing is there is told so. */
function refusalOf(status: number | undefined): string {
  return status === 404 || status === 416 ? 'answered' : 'refused'
}

function ruleLines({ document, place, action, tier, actor, resource, method, selector, why }: AccessRule): string[] {
  const element = selector === undefined ? '' : ` ${selector}`
  const rank = tier === undefined ? '        ' : `  tier ${tier}`
  return [
    `${rank}  ${action.padEnd(5)}  ${actor}  ${method}  ${resource}${element}`,
    `          ${why} (rule ${place} of ${document})`,
  ]
}
