/** Templates as an author stores them and a visitor gets them: put on a real server, read back over HTTP. */

import { after, before } from 'mocha'
import { composed } from '../../pipeline/compose/composing.ts'
import { NS, page, put, putAll } from '../../support/content.ts'
import { type Client, client, type Fields, type Received } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

/** One case of a table: the rule with what it says, a template, and what the visitor's parser finds in its host. */
export type Case = readonly [title: string, source: string, expected: string]

/** Two items, which templates find as `people`. */
const PEOPLE = page(`<div class="person" id="ada" itemscope itemtype="urn:x:Person">
<b itemprop="name">Ada</b> <i itemprop="age">36</i> <a itemprop="url" href="../x?a=1&amp;b">u</a>
<p itemprop="note">a  b</p><p itemprop="note">c</p><i itemprop="member">true</i>
<div itemprop="address" itemscope itemtype="urn:x:Address"><b itemprop="city">Rome</b></div></div>
<div class="person" itemscope itemtype="urn:x:Person"><b itemprop="name">Bo</b><i itemprop="age">9</i><i itemprop="member">false</i></div>
<hr class="rule">`)

/** Values of every kind, bound around the host. */
const BINDINGS = [
  'r:people=".person"',
  'r:none=".nothing"',
  'r:rules=".rule"',
  `e:h='{"k": "v", "a b": 1, "n": 1.0, "list": [1, null]}'`,
  'e:day="Temporal.PlainDate.from(\'2026-07-07\')"',
  `e:ada="\${#ada}.first()"`,
  "j:js='({ whole: 3, part: 1.5, big: 2 ** 60, no: undefined, list: [1, 2], deep: { a: [{ b: 1 }] } })'",
  `j:evil='"<b>&amp;" + String.fromCharCode(34, 39)'`,
  'j:emoji="\'a\u{1f600}b\'"',
  'e:n="3"',
  `e:code="'{{ 6 | times: 7 }}{% if %}'"`,
  "e:my-list=\"['x', 'y']\"",
].join(' ')

export interface Templates {
  readonly server: TestServer
  readonly send: Client
  /** What a template prints into a `div`; of a page that fails, its status, kind and message. */
  print(source: string, fields?: Fields): Promise<string>
  /** Stores a page and reads it. */
  show(text: string, fields?: Fields): Promise<Received>
}

/** A server for the tests of one file. */
export function templates(settings?: Record<string, unknown>): Templates {
  let server: TestServer | undefined
  const started = (): TestServer => {
    if (!server) throw new Error('The server has not started.')
    return server
  }
  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' }, ...(settings && { settings }) })
    await putAll(server, { '/people.html': PEOPLE })
  })
  after(() => server?.close())
  const show = async (text: string, fields?: Fields) => {
    await put(started(), '/page.html', text)
    return client(started())('GET', '/page.html?q=%3Cb%3E&m=1&m=2', fields)
  }
  return {
    get server() {
      return started()
    },
    get send() {
      return client(started())
    },
    show,
    async print(source, fields) {
      const text = composed(`<section ${BINDINGS}><div id="t" p:template="text/liquid">${source}</div></section>`)
      const answer = await show(text, fields)
      if (answer.status !== 200) return failureOf(answer)
      const inside = /<div id="t">([\s\S]*)<\/div><\/section><\/body>/.exec(answer.text)?.[1]
      return (inside ?? answer.text).replace(LOCAL_ERROR, '!$1!')
    },
  }
}

/** An error in place of an expression, as it is served (LIQ-60). */
const LOCAL_ERROR = new RegExp(
  `<span itemscope="" itemtype="${NS}/Error"><meta itemprop="kind" content="TemplateError"><span itemprop="message">([^<]*)</span></span>`,
  'g',
)

/** Status, kind and message of a page that failed. */
export function failureOf({ status, text }: Received): string {
  const kind = /itemprop="kind" content="([^"]*)"/.exec(text)?.[1]
  return `${status} ${kind}: ${/itemprop="message">([^<]*)/.exec(text)?.[1]}`
}
