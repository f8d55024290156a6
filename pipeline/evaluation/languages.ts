/**
 * The host of all code of a site: it asks the language of a slot (SES-4, MOD-7). A language is added here, in one list, and
 * implements `Language`.
 */

import type { Allowance } from '../language/allowance.ts'
import type { ForeignCall, MaybeLater } from '../language/sessel/host.ts'
import type { Value } from '../language/values.ts'
import type { CodeHost, CodeResult, CodeStep, Given } from '../model/code.ts'
import type { RawCode } from '../model/declarations.ts'
import type { Site } from '../site/site.ts'
import { callingBy } from './schemas.ts'
import { sessel } from './sessel-code.ts'

/** A language as one request runs it. */
export interface Language {
  /** Whether code of this item type is written in it. */
  speaks(type: string): boolean
  /** Runs the code of slots and groups. */
  readonly code: CodeHost
  /** Runs code for an expression that has called it; missing where it cannot. */
  call?(code: RawCode, call: ForeignCall): MaybeLater<Value>
}

/** A language of the server: makes what runs the code of one request, on its allowance. */
export type LanguageOf = (site: Site, allowance: Allowance, others: readonly Language[]) => Language

/**
 * @param more languages beside expressions
 * @returns what a site runs its code with; to be given to it when it is opened
 */
export function codeHostOf(site: () => Site, allowance: Allowance, more: readonly LanguageOf[] = []): CodeHost {
  const languages = languagesOf(site(), allowance, more)
  const speaking = ({ type }: RawCode): CodeHost => {
    const language = languages.find(each => each.speaks(type))
    return language ? language.code : unknownLanguage(type)
  }
  return {
    default: async (code, at) => speaking(code).default(code, at),
    validateValues: async (code, at) => speaking(code).validateValues(code, at),
    validateItem: async (code, at) => speaking(code).validateItem(code, at),
    uncompiled: async code => speaking(code).uncompiled(code),
    write: async (code, at) => speaking(code).write(code, at),
    read: steps => readingBy(speaking, steps),
    call: callingBy(languages),
    includes: async (method, at, email) => speaking(method.implementation).includes(method, at, email),
  }
}

/** Each language gets its steps together. */
async function readingBy(
  speaking: (code: RawCode) => CodeHost,
  steps: readonly CodeStep[],
): Promise<readonly CodeResult<Given>[]> {
  const shares = new Map<CodeHost, number[]>()
  for (const [i, { code }] of steps.entries()) {
    const host = speaking(code)
    const share = shares.get(host)
    if (share) share.push(i)
    else shares.set(host, [i])
  }
  const results: CodeResult<Given>[] = []
  for (const [host, share] of shares) {
    const outcomes = await host.read(share.flatMap(i => steps[i] ?? []))
    for (const [place, outcome] of outcomes.entries()) results[share[place] ?? 0] = outcome
  }
  return results
}

/** JS-2: whatever is asked of code that nobody here can read fails. */
function unknownLanguage(type: string): CodeHost {
  const language = type.slice(0, 200)
  const message = `Code of type ${language} is not available here.`
  const failing = async () => ({ failure: { language, variant: 'unknown-language' as const, message } })
  const read: CodeHost['read'] = steps => Promise.all(steps.map(failing))
  const uncompiled = async () => undefined
  const validators = { validateValues: failing, validateItem: failing, uncompiled }
  return { default: failing, ...validators, write: failing, read, includes: failing }
}

/** All languages of one request. */
export function languagesOf(site: Site, allowance: Allowance, more: readonly LanguageOf[] = []): readonly Language[] {
  const languages: Language[] = []
  for (const make of [sessel, ...more]) languages.push(make(site, allowance, languages))
  return languages
}
