/** The reference documentation of all settings, as Markdown, made from their declarations. */

import { variableName } from './environment.ts'
import { type Outline, outline, type Path } from './outline.ts'

const HEAD = `# Settings

Settings come from, in this order of precedence:

1. the command line: \`--port\`, \`--data\` …, and \`--set key=value\` for every other;
2. environment variables, named after the keys: \`listen.port\` is \`SCRIPTORIUM_LISTEN_PORT\`, \`sites[0].maxBody\` is \`SCRIPTORIUM_SITES_0_MAX_BODY\`;
3. the settings file, YAML or JSON by its extension: \`--config FILE\` or \`SCRIPTORIUM_CONFIG\`;
4. the defaults below.

Unknown keys are refused. \`scriptorium serve --print-config\` shows what is in force, without secrets. An example: [example.yaml](example.yaml).

- **Sizes**: \`1GiB\`, \`64MiB\`, \`500kB\`, or a number of bytes.
- **Times** have a unit: \`30d\`, \`12h\`, \`10m\`, \`60s\`, \`250ms\`. What the server waits for may take \`24d\` at most.
- **Switches**: \`true\` and \`false\`, also \`on\` and \`off\`.
- **Lists** may be a single value; in environment variables commas separate, or \`[…]\` is written.
- **Relative paths** start at the working directory.
- A key without value (\`cors:\`) counts as not written; in a site it undoes what \`defaults\` says.
`

const FOOT = `This file is made by \`scriptorium settings\`; change the declarations in [schema.ts](schema.ts) and [site-schema.ts](site-schema.ts) instead.
`

/** The whole reference. */
export function reference(): string {
  const server: string[] = []
  const site: string[] = []
  for (const [key, node] of outline.keys) {
    server.push(...entries(node, [key], key !== 'defaults' && key !== 'sites'))
    if (key === 'sites' && node.kind === 'list' && node.item.kind === 'group') {
      for (const [name, inner] of node.item.keys) site.push(...entries(inner, ['sites', 0, name], true))
    }
  }
  return [
    HEAD,
    section('The server', 'Keys at the top of the file.', server),
    section(
      'A site',
      'Keys of the entries of `sites`. All but `host` and `name` may stand in `defaults`, too; the variables there begin with `SCRIPTORIUM_DEFAULTS_`.',
      site,
    ),
    FOOT,
  ].join('\n')
}

function section(title: string, text: string, entries: string[]): string {
  return `## ${title}\n\n${text}\n\n${entries.join('\n')}\n`
}

function entries(node: Outline, path: Path, deep: boolean): string[] {
  const own = path[0] === 'sites' && path.length > 1 ? path.slice(2) : path
  const key = own.map((step, index) => (step === 0 ? '[]' : index === 0 ? step : `.${step}`)).join('')
  const depth = own.filter(step => step !== 0).length - 1
  const facts = [writtenAs(node), fallback(node)].filter(fact => fact !== '').join(', ')
  const line = `${'  '.repeat(depth)}- \`${key}\` (${facts}): ${meaning(node)} \`${variableName(path)}\``
  const below = node.kind === 'list' ? node.item : node
  if (!deep || below.kind !== 'group') return [line]
  const here = node.kind === 'list' ? [...path, 0] : path
  return [line, ...[...below.keys].flatMap(([name, inner]) => entries(inner, [...here, name], true))]
}

function writtenAs(node: Outline): string {
  if (node.kind === 'group') return 'keys'
  if (node.kind === 'list') return node.item.kind === 'group' ? 'list of keys' : 'list'
  return node.short ?? node.expected
}

function fallback(node: Outline): string {
  if (node.about?.fallback !== undefined) return `default: ${node.about.fallback}`
  if (node.kind === 'value' && node.fallback !== undefined) return `default \`${node.write(node.fallback)}\``
  if (node.kind === 'list' && Array.isArray(node.fallback)) {
    return node.fallback.length === 0 ? 'default: none' : `default \`${JSON.stringify(node.fallback)}\``
  }
  if (node.kind === 'group') return ''
  return node.optional ? 'default: none' : 'required'
}

function meaning({ about }: Outline): string {
  const secret = { value: ' Never shown.', url: ' Its password is never shown.', none: '' }[about?.secret ?? 'none']
  return `${about?.doc ?? ''}${secret}`
}
