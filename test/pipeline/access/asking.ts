/** Questions asked of the rules for one page. */

import { type Admission, admit, type Question } from '../../../pipeline/access/admission.ts'
import type { Principal } from '../../../pipeline/access/principal.ts'
import { access, html, key, type Line, site } from './site.ts'

/** The page that questions are about. */
export const document = html('<ul id="list"><li id="a"></li><li id="b"></li></ul><ul id="done"></ul>')

/** An element of it. */
export const at = (selector: string) => key(document, selector)

export interface Ask {
  lines?: Line[]
  question: Question
  defaultGet?: 'allow' | 'deny'
  principal?: Principal
}

export function outcome({ lines = [], question, defaultGet = 'allow', principal }: Ask): Admission {
  return admit(access(site(lines), { defaultGet, ...(principal && { principal }) }), question)
}

/** What hides the page. */
export const HIDDEN: Line = ['*', 'GET', 'Deny', '/p']
