/** Roles from identity claims (OIDC-5). */

/**
 * @param path name of a claim; where there is none of this name, dots reach nested ones
 * @returns the roles, each once: from a list of texts, or from one text split at white space; nothing for other shapes
 */
export function rolesOf(claims: Record<string, unknown>, path: string): string[] {
  const found = Object.hasOwn(claims, path) ? claims[path] : nested(claims, path.split('.'))
  const roles = typeof found === 'string' ? found.split(/\s+/) : isTexts(found) ? found : []
  return [...new Set(roles.filter(role => role !== ''))]
}

function nested(value: unknown, [name, ...rest]: string[]): unknown {
  if (name === undefined) return value
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name))
    return undefined
  return nested((value as Record<string, unknown>)[name], rest)
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(each => typeof each === 'string')
}
