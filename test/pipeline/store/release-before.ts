/** What a release before derivations were told apart writes, for both stores. */

/**
 * Statements that replace the derived data of a document.
 *
 * @param name last segment of its path, which no other document has
 */
export function asBefore(name: string, derived: Readonly<Record<string, string>>): string {
  const text = (value: string) => `'${value.replaceAll("'", "''")}'`
  const own = `(SELECT id FROM resource WHERE name = ${text(name)})`
  const kept = Object.keys(derived).map(text).join(', ')
  const rows = Object.entries(derived).map(
    ([key, value]) =>
      `INSERT INTO derived (id, name, site, value) SELECT id, ${text(key)}, site, ${text(value)} FROM resource
       WHERE name = ${text(name)} ON CONFLICT (id, name) DO UPDATE SET value = EXCLUDED.value
       WHERE derived.value <> EXCLUDED.value`,
  )
  return [`DELETE FROM derived WHERE id = ${own} AND name NOT IN (${kept})`, ...rows].join('; ')
}
