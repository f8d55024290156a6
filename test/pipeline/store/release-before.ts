/** What releases before this one write, for both stores. */

import { DERIVATION } from '../../../pipeline/store/derivation.ts'

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
