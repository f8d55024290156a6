/** The module that keeps pages in step with their streams, as each site has it: with the site's brand in its names. */

import { readFileSync } from 'node:fs'
import type { SiteSettings } from '../../config/sites.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { type Conditions, evaluateRead, preconditionFailed } from '../../pipeline/http/conditions.ts'
import { bodyTag } from '../../pipeline/store/tags.ts'

/** Without comments, indentation, blanks around signs and lines of brackets, which would be a third of what browsers fetch. */
const SOURCE = readFileSync(new URL('live.mjs', import.meta.url), 'utf8')
  .replace(/^ *(\/\/.*|\/\*\*.*\*\/)?\n/gm, '')
  .replace(/^ +/gm, '')
  .replace(/(?<=^|\()const /gm, 'let ')
  .replace(/(?<=[{(,]|=>)\n|,?\n(?=[})])|\n(?=\.)/g, '')
  .replace(/('[^'\n]*'|`[^`]*`)| *([=!<>+?:&|,(){}[\]]+) */g, (_, text, sign) => text ?? sign)

/** For editors and type checkers. */
const DECLARATIONS = readFileSync(new URL('live.d.mts', import.meta.url), 'utf8')
const DECLARED: Module = { tag: bodyTag(DECLARATIONS), text: DECLARATIONS }

interface Module {
  tag: string
  text: string
}

const made = new Map<string, Module>()

function moduleOf({ brand }: Pick<SiteSettings, 'brand'>): Module {
  let module = made.get(brand)
  if (!module) {
    const text = SOURCE.replaceAll('{brand}', brand)
    module = { tag: bodyTag(text), text }
    made.set(brand, module)
  }
  return module
}

/**
 * A read of `/.{brand}/live.mjs`, or of its declarations, `live.d.mts`.
 *
 * @returns undefined for any other path
 * @throws Fault 412
 */
export function liveModule(
  settings: Pick<SiteSettings, 'brand'>,
  path: string,
  conditions: Conditions | undefined,
): Answer | undefined {
  const declared = path === `/.${settings.brand}/live.d.mts`
  if (!declared && path !== `/.${settings.brand}/live.mjs`) return undefined
  const { tag, text } = declared ? DECLARED : moduleOf(settings)
  const headers = { ETag: tag, 'Cache-Control': 'public, max-age=300' }
  if (conditions) {
    const verdict = evaluateRead(conditions, { tag })
    if (verdict === 412) throw preconditionFailed(tag)
    if (verdict !== 'proceed') return { status: 304, headers, cookieless: true }
  }
  return {
    status: 200,
    headers: { ...headers, 'Content-Type': `text/${declared ? 'plain' : 'javascript'}; charset=utf-8` },
    body: text,
    cookieless: true,
  }
}
