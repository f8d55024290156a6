/** Why a request on the public surface would be allowed or refused, for whoever writes the rules (SEC-5). */

import { serverPage } from '../../edge/page.ts'
import { SERVER_PAGE_POLICY } from '../../edge/security-headers.ts'
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
import { trimmed } from '../../pipeline/tree/ascii.ts'
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
      'Content-Security-Policy': SERVER_PAGE_POLICY,
    },
    body: page(wanted, question, answer),
  }
}

function questionOf(wanted: URLSearchParams): AccessQuestion | undefined {
  const given = (name: string) => trimmed(wanted.get(name) ?? '') || undefined
  const path = given('path')
  if (path === undefined) return undefined
  if (!path.startsWith('/')) throw new Fault(400, 'BadRequest', 'Paths begin with a slash.')
  const method = given('method') ?? 'GET'
  if (!/^[A-Za-z-]{1,32}$/.test(method)) throw new Fault(400, 'BadRequest', 'This is no name of a method.')
  const [as, email] = [given('as'), given('email')]
  const roles = wanted.getAll('role').flatMap(value => value.split(/[\t\n\f\r ,]+/).filter(role => role !== ''))
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

const STYLE = `
body{max-width:80rem;margin:0 auto;padding:1.5rem clamp(1rem,3vw,2.5rem) 3rem}
h1{margin:0 0 1rem;font-size:1.5rem;line-height:1.25;font-weight:650}
h2{margin:2rem 0 .5rem;font-size:1.2rem;line-height:1.35}
h3{margin:1.5rem 0 .5rem;font-size:1rem}
p{color:var(--soft)}
form{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,13rem),1fr));gap:.75rem;align-items:end;padding:1.1rem 1.25rem;background:var(--card);border:1px solid var(--line);border-radius:.6rem}
label{display:grid;gap:.2rem;color:var(--soft);font-size:.9rem}
table{border-collapse:collapse;width:100%;font-size:.95rem}
td,th{text-align:left;vertical-align:top;padding:.45rem .8rem .45rem 0;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-size:.85rem}
.yes{color:var(--yes)}
.no{color:var(--no)}
@media(max-width:52rem){thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table,tbody,tr,td{display:block}
tr{padding:.6rem 0;border-bottom:1px solid var(--line)}
td{display:grid;grid-template-columns:5rem minmax(0,1fr);gap:.75rem;padding:.15rem 0;border:0}
td:empty{display:none}
td::before{content:attr(data-label);color:var(--soft)}}`

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
  return serverPage({
    title: 'Who may do what',
    style: STYLE,
    content:
      '<main><h1>Who may do what</h1>\n' +
      `<form>${fields.join('')}<button>Explain</button></form>\n` +
      `${question && answer ? verdict(question, answer) : '<p>Ask about a request of a visitor: the rules do not bind those who edit here.</p>'}\n</main>`,
  })
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
    `<p>${escapeMarkup(trimmed([reason, also ?? ''].join(' ')))}</p>` +
    (known.length === 0 ? '' : `<p>Known as ${escapeMarkup(known.join(', '))}.</p>`) +
    (rules.length === 0 ? '<p>No rule matches this requester, method and path.</p>' : table(rules)) +
    (missed.length === 0 ? '' : `<h3>${missedTitle(allowed)}</h3>${table(missed)}`) +
    (findings.length === 0
      ? ''
      : `<h3>Declarations that may not say what they were meant to</h3><ul>${findings.map(finding => `<li>${escapeMarkup(finding)}</li>`).join('')}</ul>`)
  )
}

const HEADS = ['Tier', 'Action', 'Who', 'Method', 'Where', 'Element', 'Why', 'Rule'] as const

/** On narrow screens each row stands by itself, and each cell says what it is. */
function table(rules: readonly AccessRule[]): string {
  const heads = HEADS.map(head => `<th scope="col">${head}</th>`).join('')
  const rows = rules.map(rule => {
    const cells = [
      [rule.tier === undefined ? '' : String(rule.tier)],
      [rule.action, rule.action === 'Allow' ? 'yes' : 'no'],
      ...[rule.actor, rule.method, rule.resource, rule.selector ?? ''].map(text => [text && code(text)]),
      [`<span>${escapeMarkup(rule.why)}</span>`],
      [`<span>${rule.place} of ${code(rule.document)}</span>`],
    ]
    const marked = cells.map(
      ([text, name], i) => `<td data-label="${HEADS[i]}"${name === undefined ? '' : ` class="${name}"`}>${text}</td>`,
    )
    return `<tr>${marked.join('')}</tr>`
  })
  return `<table><thead><tr>${heads}</tr></thead><tbody>${rows.join('')}</tbody></table>`
}

function code(text: string): string {
  return `<code>${escapeMarkup(text)}</code>`
}
