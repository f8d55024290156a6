/** Tables of small sites: each case brings its documents, asks one server for a page, and says what has to come back. */

import { expect } from 'chai'
import { after, before, it } from 'mocha'
import { NS, page, put, remove } from '../../support/content.ts'
import { type Client, client, type Fields, type Received } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { composed } from './composing.ts'

/** A site of its own for one case, and what has to come back. */
export interface Case {
  /** Content of `/page.html`: of its body, unless it begins with `<!`. */
  page?: string
  head?: string
  /** Further documents; HTML that does not begin with `<!` is the body of a page. */
  files?: Readonly<Record<string, string>>
  /** `GET /page.html` when missing. */
  target?: string
  fields?: Fields
  /** Status; 200, or 206 with a selector, when missing. */
  status?: number
  /** What stands in the body of the page, or the whole content of an answer without body element. */
  is?: string
  /** What the content has to hold. */
  has?: string | RegExp
  /** What the content must not hold. */
  hasNot?: string | RegExp
  headers?: Readonly<Record<string, string | RegExp | undefined>>
}

export type Cases = readonly (readonly [title: string, each: Case])[]

/** What stands between the tags of `body`. */
export function bodyOf({ text }: Received): string {
  return /<body[^>]*>([\s\S]*)<\/body>/.exec(text)?.[1] ?? text
}

/** A site whose documents come and go with each case. */
export function caseSite(settings: Record<string, unknown> = { defaultGet: 'allow' }) {
  let server: TestServer
  let send: Client
  let stored: string[] = []
  before(async () => {
    server = await startServer({ site: settings })
    send = client(server)
  })
  after(() => server.close())

  async function fill(files: Readonly<Record<string, string>>): Promise<void> {
    for (const path of stored) if (await server.site.find(path)) await remove(server, path)
    stored = Object.keys(files)
    for (const [path, text] of Object.entries(files))
      await put(server, path, text.startsWith('<!') || !path.endsWith('.html') ? text : page(text))
  }

  return {
    get server() {
      return server
    },
    send: (...request: Parameters<Client>) => send(...request),
    fill,
    async check({ page: text, head, files = {}, ...wanted }: Case): Promise<void> {
      const own = text === undefined ? {} : { '/page.html': text.startsWith('<!') ? text : composed(text, head) }
      await fill(Object.assign({}, files, own))
      const answer = await send('GET', wanted.target ?? '/page.html', wanted.fields)
      const message = answer.status >= 400 ? decoded(answer.text) : answer.text
      const { status = wanted.fields?.Range === undefined ? 200 : 206 } = wanted
      expect(answer.status, answer.text).to.equal(status)
      if (wanted.is !== undefined) expect(bodyOf(answer)).to.equal(wanted.is)
      if (wanted.has !== undefined) expect(message).to.match(pattern(wanted.has))
      if (wanted.hasNot !== undefined) expect(answer.text).not.to.match(pattern(wanted.hasNot))
      for (const [name, value] of Object.entries(wanted.headers ?? {}))
        if (value instanceof RegExp) expect(answer.headers[name], name).to.match(value)
        else expect(answer.headers[name], name).to.equal(value)
    },
  }
}

/** A test of each case. */
export function casesOf(site: ReturnType<typeof caseSite>, cases: Cases): void {
  for (const [title, each] of cases) it(title, () => site.check(each))
}

/** Messages are text. */
function decoded(html: string): string {
  return html.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&')
}

function pattern(text: string | RegExp): RegExp {
  return text instanceof RegExp ? text : new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
}

/** A method as a schema declares it. */
export interface Method {
  name: string
  parameters?: string[]
  returns?: string
  sessel?: string
  javascript?: string
}

export const ELEMENT = `${NS}/Element`

/** A schema with methods, as markup. */
export function schema(type: string, methods: readonly Method[], parent?: string): string {
  const field = (name: string, content: string) => `<meta itemprop="${name}" content="${content}">`
  const method = ({ name, parameters = [], returns, sessel, javascript }: Method) => {
    const code = (type: string, source: string, script: string) =>
      `<div itemprop="implementation" itemscope itemtype="${NS}/${type}"><script itemprop="source" type="${script}">${source}</script></div>`
    return [
      `<div itemprop="property" itemscope itemtype="${NS}/Method">${field('name', name)}`,
      returns === undefined ? '' : field('returns', returns),
      ...parameters.map(
        p => `<div itemprop="parameter" itemscope itemtype="${NS}/Parameter">${field('name', p)}</div>`,
      ),
      sessel === undefined ? '' : code('Sessel', sessel, 'text/sessel'),
      javascript === undefined ? '' : code('JavaScript/Module', javascript, 'module'),
      '</div>',
    ].join('')
  }
  return `<div hidden itemscope itemtype="${NS}/Schema">${field('type', type)}${parent === undefined ? '' : field('parent', parent)}${methods.map(method).join('')}</div>`
}
