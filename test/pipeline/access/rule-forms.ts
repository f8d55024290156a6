/** The forms in which authors write rules and groups (RULE-1 to RULE-6, RULE-12, GRP-1, GRP-4): each makes a document of them. */

import { extractAccess, type RawAccess } from '../../../pipeline/access/extract.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import type { OracleRule } from './oracle.ts'
import { NS } from './site.ts'

/** What a schema derives from rules and groups. */
export const TYPES = { rule: new Set(['https://t.example/Rule']), group: new Set(['https://t.example/Domain']) }

export interface WrittenGroup {
  type: 'Group' | 'Domain'
  name: string
  members: readonly string[]
}

const RULE = `${NS}/AuthorizationRule`
const FIELDS = ['actor', 'resource', 'method', 'selector', 'action'] as const

type Field = (typeof FIELDS)[number]
type Form = (rules: readonly OracleRule[], groups: readonly WrittenGroup[]) => ['html' | 'xml', string]

function valuesOf(rule: OracleRule, field: Field): string[] {
  const { actors, resources, methods, action, selector } = rule
  if (field === 'selector') return selector === undefined ? [] : [selector]
  return { actor: actors, resource: resources, method: methods, action: [action] }[field]
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

function fieldsOf(rule: OracleRule, write: (field: Field, value: string) => string): string {
  return FIELDS.flatMap(field => valuesOf(rule, field).map(value => write(field, escaped(value)))).join('')
}

const meta = (field: string, value: string) => `<meta itemprop="${field}" content="${value}"/>`
const item = (tag: string, type: string, inside: string) => `<${tag} itemscope="" itemtype="${type}">${inside}</${tag}>`

/** A table row: a field of several values is a list in a plain cell (RULE-3). */
function cells(rule: OracleRule): string {
  const cell = (field: Field) => {
    const values = valuesOf(rule, field).map(escaped)
    if (values.length === 1) return `<td itemprop="${field}">\n ${values[0]} </td>`
    return `<td><ul>${values.map(value => `<li itemprop="${field}">${value}</li>`).join('')}</ul></td>`
  }
  return FIELDS.map(cell).join('')
}

function groupsAs(tag: string, groups: readonly WrittenGroup[]): string {
  const fields = ({ name, members }: WrittenGroup) =>
    meta('name', name) + members.map(member => meta('member', escaped(member))).join('')
  const type = (group: WrittenGroup) => (group.type === 'Group' ? `${NS}/Group` : 'https://t.example/Domain')
  return groups.map(group => item(tag, type(group), fields(group))).join('')
}

/** Every form; XML is written as in a document without a namespace. */
export const FORMS: Readonly<Record<string, Form>> = {
  'items with meta': (rules, groups) => [
    'html',
    rules.map(rule => item('div', RULE, fieldsOf(rule, meta))).join('\n') + groupsAs('section', groups),
  ],
  'items of a list, visible': (rules, groups) => {
    const shown = (field: Field, value: string) => `<code itemprop="${field}"> ${value}\n</code>`
    return [
      'html',
      `<ul>${rules.map(rule => item('li', RULE, fieldsOf(rule, shown))).join('')}</ul>${groupsAs('p', groups)}`,
    ]
  },
  'table rows': (rules, groups) => [
    'html',
    `<table><tr><th>Who</th></tr>${rules.map(rule => item('tr', RULE, cells(rule))).join('')}</table>${groupsAs('div', groups)}`,
  ],
  'one table': (rules, groups) => {
    const rows = `<thead><tr><th>Who</th></tr></thead><tbody>${rules.map(rule => `<tr>${cells(rule)}</tr>`).join('')}</tbody>`
    return ['html', item('table', RULE, rows) + groupsAs('aside', groups)]
  },
  'data elements of a type derived from rules': (rules, groups) => {
    const data = (field: Field, value: string) => `<data itemprop="${field}" value="${value}">shown</data>`
    return [
      'html',
      rules.map(rule => item('div', 'https://t.example/Rule', fieldsOf(rule, data))).join('') + groupsAs('div', groups),
    ]
  },
  XML: (rules, groups) => {
    const element = (field: Field, value: string) => `<f itemprop="${field}">${value}</f>`
    return [
      'xml',
      `<r>${rules.map(rule => item('rule', RULE, fieldsOf(rule, element))).join('')}${groupsAs('g', groups)}</r>`,
    ]
  },
}

/** What a document in one of the forms declares. */
export function written(
  form: string,
  rules: readonly OracleRule[],
  groups: readonly WrittenGroup[],
): RawAccess | undefined {
  const [kind, markup] = FORMS[form]?.(rules, groups) ?? ['html', '']
  const text = kind === 'html' ? `<!DOCTYPE html><title>t</title><body>${markup}` : markup
  return extractAccess(parseDocument(kind, text), NS, TYPES)
}
