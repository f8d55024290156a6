/** Why a request on the public surface would be allowed or refused, for whoever writes the rules (SEC-5). */

import type { Answer } from '../../pipeline/answer.ts'
import {
  type AccessAnswer,
  type AccessQuestion,
  type AccessRule,
  explainRequest,
  missedTitle,
  principalNamed,
  requesterOf,
} from '../../pipeline/explain-request.ts'
import { Fault } from '../../pipeline/fault.ts'
import { escapeMarkup } from '../../pipeline/http/markup.ts'
import type { Author } from '../access/credentials.ts'
import type { Mount } from '../mount.ts'

/** Path of the page, relative to the mount. */
export function explainPath({ settings }: Pick<Mount, 'settings'>): string {
  return `/-${settings.brand}/explain`
}

/**
 * Answers `GET /-{brand}/explain?as=WHO&email=E&role=R&method=M&path=P&selector=S`; without a path, an empty form. Rules
 * tell of the whole site, so only credentials that open all of it may ask.
 *
 * @param query raw, without `?`
 * @param accept JSON where it is named, else a page
 * @throws Fault 403 for a smaller scope, 400 and 422 for questions that make no sense
 */
export async function explainAccess(
  mount: Mount,
  { scope }: Author,
  query: string,
  accept: string | undefined,
): Promise<Answer> {
  if (!scope.whole) throw new Fault(403, 'Forbidden', 'Your credentials do not open the whole site.')
  const wanted = new URLSearchParams(query)
  const question = questionOf(wanted)
  const answer = question && (await explainRequest(mount.site, question))
  const headers = { 'Cache-Control': 'no-store', Vary: 'Accept' }
  if (accept !== undefined && /\bapplication\/json\b/i.test(accept)) {
    if (!answer) throw new Fault(400, 'BadRequest', 'Name a path to ask about: ?path=/index.html')
    return { status: 200, headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(answer) }
  }
  return {
    status: 200,
    headers: {
      ...headers,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy':
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    },
    body: page(wanted, question, answer),
  }
}

function questionOf(wanted: URLSearchParams): AccessQuestion | undefined {
  const given = (name: string) => wanted.get(name)?.trim() || undefined
  const path = given('path')
  if (path === undefined) return undefined
  if (!path.startsWith('/')) throw new Fault(400, 'BadRequest', 'Paths begin with a slash.')
  const method = given('method') ?? 'GET'
  if (!/^[A-Za-z-]{1,32}$/.test(method)) throw new Fault(400, 'BadRequest', 'This is no name of a method.')
  const [as, email] = [given('as'), given('email')]
  const roles = wanted.getAll('role').flatMap(value => value.split(/[\s,]+/).filter(role => role !== ''))
  if (as === undefined && (email !== undefined || roles.length > 0))
    throw new Fault(400, 'BadRequest', 'An email or role belongs to a principal: name one with as=')
  const principal = as === undefined ? {} : principalNamed(as)
  return {
    method: method.toUpperCase(),
    path,
    selector: given('selector'),
    ...principal,
    ...(email && { email }),
    roles,
  }
}

const STYLE =
  ':root{color-scheme:light dark;--soft:#5a6375;--line:#d5d9e2;--yes:#0b6b3a;--no:#a3271b}' +
  '@media(prefers-color-scheme:dark){:root{--soft:#a2abbd;--line:#3a4352;--yes:#7fd8a4;--no:#ff9d8f}}' +
  'body{font:16px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem}' +
  'form{display:grid;grid-template-columns:repeat(auto-fill,minmax(13rem,1fr));gap:.75rem;align-items:end}' +
  'label{display:grid;gap:.2rem;color:var(--soft);font-size:.9rem}input,button{font:inherit;padding:.35rem .5rem;min-width:0}' +
  'div{overflow-x:auto}table{border-collapse:collapse;width:100%}' +
  'td,th{text-align:left;vertical-align:top;padding:.4rem .7rem .4rem 0;border-bottom:1px solid var(--line)}' +
  'code{font:.92em ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere}td code{overflow-wrap:normal}.yes{color:var(--yes)}.no{color:var(--no)}p{color:var(--soft)}h2{margin-top:2rem}'

/** Fields of the form: name, label, example. */
const FIELDS = [
  ['method', 'Method', 'GET'],
  ['path', 'Path', '/index.html'],
  ['selector', 'Element (selector)', ''],
  ['as', 'Signed in as (name or address)', ''],
  ['email', 'Verified email', ''],
  ['role', 'Roles', ''],
] as const

function page(wanted: URLSearchParams, question: AccessQuestion | undefined, answer: AccessAnswer | undefined): string {
  const fields = FIELDS.map(([name, label, example]) => {
    const value = escapeMarkup(wanted.getAll(name).join(' '))
    return `<label>${label}<input name="${name}" value="${value}" placeholder="${example}"></label>`
  })
  return (
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<title>Who may do what</title><style>${STYLE}</style></head>\n<body><h1>Who may do what</h1>\n` +
    `<form>${fields.join('')}<button>Explain</button></form>\n` +
    `${question && answer ? verdict(question, answer) : '<p>Ask about a request of a author: the rules are not bound to those who edit them here.</p>'}\n</body></html>\n`
  )
}

function verdict(question: AccessQuestion, answer: AccessAnswer): string {
  const { allowed, status, reason, rules, known, also, missed = [], findings = [] } = answer
  const { method, path, selector } = question
  const element = selector === undefined ? '' : ` <code>${escapeMarkup(selector)}</code>`
  const outcome = allowed
    ? '<b class="yes">allowed</b>'
    : `<b class="no">${status === 404 || status === 416 ? 'answered' : 'refused'} with ${status}</b>`
  return (
    `<h2><code>${escapeMarkup(method)} ${escapeMarkup(path)}</code>${element} by ${escapeMarkup(requesterOf(question))} is ${outcome}</h2>` +
    `<p>${escapeMarkup([reason, also ?? ''].join(' ').trim())}</p>` +
    (known.length === 0 ? '' : `<p>Known as ${escapeMarkup(known.join(', '))}.</p>`) +
    (rules.length === 0 ? '<p>No rule matches this requester, method and path.</p>' : table(rules)) +
    (missed.length === 0 ? '' : `<h3>${missedTitle(allowed)}</h3>${table(missed)}`) +
    (findings.length === 0
      ? ''
      : `<h3>Rules and groups that may not say what they were meant to</h3><ul>${findings.map(finding => `<li>${escapeMarkup(finding)}</li>`).join('')}</ul>`)
  )
}

const HEADS = ['Tier', 'Action', 'Who', 'Method', 'Where', 'Element', 'Why', 'Rule']
  .map(head => `<th scope="col">${head}</th>`)
  .join('')

function table(rules: readonly AccessRule[]): string {
  const rows = rules.map(
    rule =>
      `<tr><td>${rule.tier ?? ''}</td><td class="${rule.action === 'Allow' ? 'yes' : 'no'}">${rule.action}</td>` +
      [rule.actor, rule.method, rule.resource, rule.selector ?? '']
        .map(text => `<td><code>${escapeMarkup(text)}</code></td>`)
        .join('') +
      `<td>${escapeMarkup(rule.why)}</td><td>${rule.place} of <code>${escapeMarkup(rule.document)}</code></td></tr>`,
  )
  return `<div><table><thead><tr>${HEADS}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}
