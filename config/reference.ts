/** The reference documentation of all settings, as Markdown, made from their declarations. */

import { VARIABLE_PREFIX, variableName } from './environment.ts'
import { type Group, type Outline, outline, type Path } from './outline.ts'

const HEAD = `# Settings

Settings come from, in this order of precedence:

1. the command line: \`--port\`, \`--data\` …, and \`--set key=value\` for every other;
2. environment variables, named after the keys: \`listen.port\` is \`SCRIPTORIUM_LISTEN_PORT\`, \`sites[0].maxBody\` is \`SCRIPTORIUM_SITES_0_MAX_BODY\`;
3. the settings file, YAML or JSON by its extension: \`--config FILE\` or \`SCRIPTORIUM_CONFIG\`;
4. the defaults below.

Unknown keys are refused. \`scriptorium serve --print-config\` shows what is in force, without secrets. An example: [example.yaml](example.yaml).

- **Sizes**: \`1GiB\`, \`64MiB\`, \`500kB\`, or a number of bytes.
- **Times** have a unit: \`30d\`, \`12h\`, \`10m\`, \`60s\`, \`250ms\`.
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
    server.push(...rows(node, [key], key !== 'defaults' && key !== 'sites'))
    if (key === 'sites' && node.kind === 'list' && node.item.kind === 'group') site.push(...siteRows(node.item))
  }
  return [
    HEAD,
    table('The server', 'Variables begin with `SCRIPTORIUM_`.', server),
    table(
      'A site',
      'In `sites`, and all but `host` and `name` in `defaults` too. Variables begin with `SCRIPTORIUM_SITES_0_` (the first entry) or `SCRIPTORIUM_DEFAULTS_`.',
      site,
    ),
    FOOT,
  ].join('')
}

function siteRows(entry: Group): string[] {
  return [...entry.keys].flatMap(([key, node]) => rows(node, [key], true))
}

function table(title: string, text: string, rows: string[]): string {
  const head = '| Key | Variable | Written as | Default | Meaning |\n|---|---|---|---|---|'
  return `## ${title}\n\n${text}\n\n${head}\n${rows.join('\n')}\n\n`
}

function rows(node: Outline, path: Path, deep: boolean): string[] {
  const key = path.map((step, index) => (step === 0 ? '[]' : index === 0 ? step : `.${step}`)).join('')
  const variable = variableName(path).slice(VARIABLE_PREFIX.length)
  const cells = [`\`${key}\``, `\`${variable}\``, writtenAs(node), fallback(node), meaning(node)]
  const own = `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
  const below = node.kind === 'list' ? node.item : node
  if (!deep || below.kind !== 'group') return [own]
  const here = node.kind === 'list' ? [...path, 0] : path
  return [own, ...[...below.keys].flatMap(([name, inner]) => rows(inner, [...here, name], true))]
}

function writtenAs(node: Outline): string {
  if (node.kind === 'group') return 'keys'
  if (node.kind === 'list') return node.item.kind === 'group' ? 'list of keys' : 'list'
  return node.short ?? node.expected
}

function fallback(node: Outline): string {
  if (node.about?.fallback !== undefined) return node.about.fallback
  if (node.kind === 'value' && node.fallback !== undefined) return `\`${node.write(node.fallback)}\``
  if (node.kind === 'list' && Array.isArray(node.fallback) && node.fallback.length > 0) {
    return `\`${JSON.stringify(node.fallback)}\``
  }
  if (node.kind === 'group') return ''
  return node.optional || node.fallback !== undefined ? 'none' : 'required'
}

function meaning({ about }: Outline): string {
  const secret = { value: ' Never shown.', url: ' Its password is never shown.', none: '' }[about?.secret ?? 'none']
  const inert = about?.inert === undefined ? '' : ` No effect: ${about.inert}.`
  return `${about?.doc ?? ''}${secret}${inert}`
}
