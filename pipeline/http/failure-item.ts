/** The item that tells of code that went wrong (MOD-132): beside a violation, or in the article of a spent budget (HTTP-172). */

import type { CodeFailure } from '../fault.ts'
import { escapeMarkup, escapeText } from './markup.ts'

/** @param ns base URI of the site's vocabulary */
export function failureItem(ns: string, { language, variant, message }: CodeFailure): string {
  const fields = [span('language', language), span('variant', variant), span('message', message)].join('\n')
  return `<div itemprop="failure" itemscope itemtype="${escapeMarkup(ns)}/BindingFailure">\n${fields}</div>`
}

/** A property as text. */
export function span(name: string, text: string): string {
  return `<span itemprop="${name}">${escapeText(text)}</span>`
}
