/** What docker/compose.yaml says of its services. */

import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'

export const DOCKER = new URL('../../docker/', import.meta.url)

/**
 * The environment that compose.yaml gives a service, with variables of the shell put in as Compose does.
 *
 * @param shell variables, by name
 * @param server name of the service
 */
export async function composeEnvironment(
  shell: Readonly<Record<string, string>>,
  server = 'server',
): Promise<Record<string, string>> {
  const compose = parse(await readFile(new URL('compose.yaml', DOCKER), 'utf8'), { merge: true })
  const variables: Record<string, string> = compose.services[server].environment
  const put = (text: string) =>
    text.replace(/\$\{(\w+)(?::-([^}]*)|:\?[^}]*)?\}/g, (_, name, fallback) => shell[name] ?? fallback ?? '')
  return Object.fromEntries(Object.entries(variables).map(([name, text]) => [name, put(text)]))
}
