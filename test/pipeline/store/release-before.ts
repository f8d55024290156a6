/** What releases before this one write, for both stores. */

import { expect } from 'chai'
import { DERIVATION, OUTDATED } from '../../../pipeline/store/derivation.ts'
import type { SiteStore } from '../../../pipeline/store/store.ts'
import { done, put } from './fixture.ts'

/**
 * Statements that replace the derived data of a document.
 *
 * @param name last segment of its path, which no other document has
 * @param derivation 0 for a release that does not say by which it derives
 */
export function asBefore(
  name: string,
  derived: Readonly<Record<string, string>>,
  derivation: number = DERIVATION - 1,
): string {
  const [column, number] = derivation === 0 ? ['', ''] : [', derivation', `, ${derivation}`]
  const text = (value: string) => `'${value.replaceAll("'", "''")}'`
  const own = `(SELECT id FROM resource WHERE name = ${text(name)})`
  const kept = Object.keys(derived).map(text).join(', ')
  const rows = Object.entries(derived).map(
    ([key, value]) =>
      `INSERT INTO derived (id, name, site, value${column}) SELECT id, ${text(key)}, site, ${text(value)}${number} FROM resource
       WHERE name = ${text(name)} ON CONFLICT (id, name) DO UPDATE SET value = EXCLUDED.value
       WHERE derived.value <> EXCLUDED.value`,
  )
  return [`DELETE FROM derived WHERE id = ${own} AND name NOT IN (${kept})`, ...rows].join('; ')
}

/** Documents that hold `<![CDATA[` or do not, by their tokens, and whether the third derivation may read them otherwise. */
const PAGES: readonly [name: string, text: string, tokens: string[], isNoted: boolean, utf8?: boolean][] = [
  ['svg', '<svg><desc><![CDATA[>', ['svg', 'desc'], true],
  ['math', '<math><mi><![CDATA[>', ['math', 'mi'], true],
  ['anything', '<svg><desc><![CDATA[>', ['*'], true],
  ['utf-16', '<\0!\0[\0', ['svg', 'title'], true, false],
  ['plain', '<svg><desc>', ['svg', 'desc'], false],
  ['drawing', '<svg><path/><![CDATA[>', ['svg', 'path'], false],
  ['comment', '<title><![CDATA[>', ['title'], false],
  ['noted', '<p>', ['p'], true],
]

/** What the release before had noted, and not read again yet. */
export const NOTED_BEFORE = "UPDATE derived SET name = 'outdated' WHERE name = 'noted'"

export async function putCdata(site: SiteStore): Promise<void> {
  for (const [name, text, tokens, , utf8 = true] of PAGES)
    await done(site, [
      put(`/${name}`, text, {
        derived: { profile: JSON.stringify({ utf8 }), tokens: JSON.stringify(tokens), [name]: '1' },
      }),
    ])
}

/** Insists that those are noted which may be read otherwise, and they alone. */
export async function isCdataNoted(site: SiteStore): Promise<void> {
  for (const [name, , , isNoted] of PAGES)
    expect(await site.derived(`/${name}`, OUTDATED), name).to.equal(isNoted ? '1' : undefined)
}

/** Documents by what their profiles say, and whether the fourth derivation may index their items otherwise. */
const BOUND: readonly [name: string, profile: object, isNoted: boolean][] = [
  ['bound', { utf8: true, types: [], namespaces: ['urn:x'] }, true],
  ['unbound', { utf8: true, types: ['urn:x'], namespaces: [] }, false],
  ['noted', { utf8: true, types: [], namespaces: [] }, true],
]

/** What the third derivation had noted, and not read again yet. */
export const NOTED_BY_THIRD = "UPDATE derived SET name = 'outdated/3' WHERE name = 'noted'"

export async function putBound(site: SiteStore): Promise<void> {
  for (const [name, profile] of BOUND)
    await done(site, [
      put(`/${name}`, '<p>', { derived: { profile: JSON.stringify(profile), tokens: '["p"]', [name]: '1' } }),
    ])
}

/** Insists that those are noted which may be indexed otherwise, and they alone. */
export async function isBoundNoted(site: SiteStore): Promise<void> {
  for (const [name, , isNoted] of BOUND)
    expect(await site.derived(`/${name}`, OUTDATED), name).to.equal(isNoted ? '1' : undefined)
}
