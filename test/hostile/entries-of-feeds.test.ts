// biome-ignore-all lint/suspicious/noTemplateCurlyInString: selector literals of programs look like templates
/** What visitors write into XML is data there, and stays that in pages that code puts it into (COMP-120, COMP-147). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { composed } from '../pipeline/compose/composing.ts'
import { property, schema } from '../pipeline/model/markup.ts'
import { trigger } from '../pipeline/react/site.ts'
import { NS, page, put, putAll, remove, rulesPage } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const GIVEN = 'urn:t:Given'
const RESOLVED = 'urn:t:Resolved'
const SHOWN = 'urn:t:Shown'
const ENTRY = '(${.entry} from "/feed.xml").first().clone()'
const sessel = (name: string, source: string) => ({
  markup: `<script itemprop="${name}" type="text/sessel">${source}</script>`,
})
/** HTML has none of the elements of XML; a script makes some of them. */
const script = (name: string, type: string) => ({
  [name]: {
    markup:
      `<div itemprop="${name}" itemscope itemtype="${NS}/JavaScript/Module"><script itemprop="source" type="module">import Own from "${type}" with { type: "${NS}/Schema" };` +
      'export default () => { const made = document.createElement("div"); made.innerHTML = Own.entry().outerHTML; return made }</script></div>',
  },
})
const METHOD =
  `<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="entry">` +
  `<meta itemprop="static" content="true">${sessel('implementation', ENTRY).markup}</div>`
const shownBy = (code: string) =>
  `<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="shown">${code}</div>`
const puts = (made: string, path: string) => `@schema Site url("${NS}/1.0"); Site.PUT(${made}, "${path}")`
const OWN = `<i e:y='"own"'><p:stamp y></p:stamp></i>`
const LEAK = `e:x='(\${#vault} from "/vault.html").first().text()'`
const LEAKS = `<b ${LEAK}><p:stamp x=""/></b>`
const LIVE = `xmlns:s="${NS}/Binding/Sessel" xmlns:q="${NS}/1.0"`

describe('entries of a feed that code puts into pages', () => {
  let server: TestServer
  let http: Client
  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' } })
    http = client(server.port)
    const whole = `(\${html} from "/page.html").first().clone().append(new div { ${ENTRY} })`
    await putAll(server, {
      '/rules.html': rulesPage(['*', 'POST|PUT', 'Allow', '/*'], ['*', 'GET', 'Deny', '/vault.html']),
      '/vault.html': page('<b id="vault">TOPSECRET</b>'),
      '/model.html': page(
        schema(GIVEN, {}, property('missing', script('default', GIVEN)), METHOD) +
          schema(RESOLVED, {}, property('written', script('@write', RESOLVED)), METHOD) +
          schema(SHOWN, {}, METHOD, shownBy(script('implementation', SHOWN).implementation?.markup ?? '')),
      ),
      '/triggers.html': page(
        trigger({ resource: '/go.html', method: 'PUT', action: puts(whole, '/made.html') }) +
          trigger({ resource: '/to.xml', method: 'POST', action: puts(ENTRY, '/to.xml') }) +
          trigger({ resource: '/within.html', method: 'POST', action: puts(ENTRY, '/within.html') }) +
          trigger({ resource: '/around.html', method: 'POST', action: puts(`new div { ${ENTRY} }`, '/around.html') }),
      ),
    })
  })
  after(() => server.close())

  /** Where it is put, by a POST into what. */
  const ways: [what: string, path: string, asked: string, body: string][] = [
    ['a document of an action', '/made.html', '/go.html', 'x'],
    ['the body of an action', '/within.html', '/within.html', 'x'],
    ['an element in it', '/around.html', '/around.html', 'x'],
    ['a default', '/given.html', '/given.html', `<div itemscope itemtype="${GIVEN}"></div>`],
    [
      '@write',
      '/resolved.html',
      '/resolved.html',
      `<div itemscope itemtype="${RESOLVED}"><i itemprop="written">1</i></div>`,
    ],
  ]
  const entries: [what: string, declared: string, entry: string, shown: RegExp][] = [
    [
      'prefixes of its own',
      '',
      `<li class="entry" xmlns:e="urn:b" xmlns:p="urn:b" xmlns:z="urn:b"><z:x/>${LEAKS}</li>`,
      /<z:x>.*p:stamp/,
    ],
    [
      'those of the feed',
      'xmlns:e="urn:b" xmlns:p="urn:b" xmlns:z="urn:b"',
      `<li class="entry"><z:x/>${LEAKS}</li>`,
      /<z:x>.*p:stamp/,
    ],
    [
      'declarations for HTML alone',
      'xmlns:e="urn:b" xmlns:p="urn:b" xmlns:XMLNS="urn:b"',
      `<li class="entry"><b XMLNS:e="${NS}/Binding/Sessel" XMLNS:p="${NS}/1.0" ${LEAK} p:template="text/liquid">{{ x }}</b></li>`,
      /<b\b.*\{\{ x/,
    ],
  ]
  for (const [what, declared, entry, shown] of entries)
    it(`COMP-120 COMP-145 a page shows what a method in JavaScript has read in a feed: ${what} mean nothing`, async () => {
      const shows = composed(`${OWN}<t:shown xmlns:t="${SHOWN}"></t:shown>`)
      await putAll(server, { '/feed.xml': `<feed ${declared}>${entry}</feed>`, '/page.html': shows })
      const { status, text } = await http('GET', '/page.html')
      expect(status, text).to.equal(200)
      expect(text).to.include('<i>own</i>').and.match(shown).and.not.include('TOPSECRET')
    })
  it('COMP-107 COMP-120 nor does a document mean them that a page makes of a request: declarations for HTML alone', async () => {
    const [, declared, entry, shown] = entries[2] ?? []
    const made = composed(
      `${OWN}<div r:l=".entry"><p:stamp l></p:stamp></div>`,
      '<base href="/new.html"><title>t</title>',
    )
    await putAll(server, { '/feed.xml': `<feed ${declared}>${entry}</feed>`, '/page.html': made })
    expect((await http('POST', '/page.html', {}, 'x')).status).to.equal(301)
    const { status, text } = await http('GET', '/new.html')
    expect(status, text).to.equal(200)
    expect(text)
      .to.match(shown ?? /^$/)
      .and.not.include('TOPSECRET')
    await remove(server, '/new.html')
  })
  for (const [what, declared, entry] of [
    ['its own', '', '<li class="entry" xmlns:s="urn:b" xmlns:q="urn:b"><b s:x="1 + 1"><q:stamp x=""/></b></li>'],
    [
      'those of its feed',
      'xmlns:s="urn:b" xmlns:q="urn:b"',
      '<li class="entry"><b s:x="1 + 1"><q:stamp x=""/></b></li>',
    ],
  ] as const)
    it(`COMP-120 COMP-147 REA-62 in another feed prefixes mean what they did: ${what}`, async () => {
      const feed = `<feed ${LIVE}><b s:y="'own'"><q:stamp y=""/></b><list id="in"></list></feed>`
      await putAll(server, { '/feed.xml': `<feed ${declared}>${entry}</feed>`, '/to.xml': feed })
      const { status, text } = await http('POST', '/to.xml', { Range: 'selector=#in' }, '<x/>')
      expect(status, text).to.equal(206)
      const shown = (await http('GET', '/to.xml')).text
      expect(shown).to.include('own').and.include('<q:stamp x=""').and.not.include('<b>2')
    })
  for (const [what, entry] of [
    [
      'its own tag',
      `<li class="entry"><svg><html xmlns:e="http://purl.org/x" xmlns:p="http://purl.org/y" ${LEAK} p:template="text/liquid"></html></svg></li>`,
    ],
    [
      'a tag that HTML drops',
      `<li class="entry"><form><div></div><form xmlns:e="http://purl.org/x" xmlns:p="http://purl.org/y">${LEAKS}</form></form></li>`,
    ],
  ] as const)
    it(`COMP-145 COMP-147 REA-62 nor do they mean more in a page that a feed shows: ${what}`, async () => {
      const feed = `<feed ${LIVE} xmlns:r="${NS}/Binding/CSS" r:l="#in"><q:stamp l=""/></feed>`
      await putAll(server, {
        '/feed.xml': `<feed>${entry}</feed>`,
        '/to.xml': feed,
        '/page.html': composed(`${OWN}<div id="in"></div>`),
      })
      const { status, text } = await http('POST', '/to.xml', { Range: 'selector=#in' }, '<x/>')
      expect(status, text).to.equal(206)
      const shown = (await http('GET', '/page.html')).text
      expect(shown).to.include('<i>own</i>').and.not.include('TOPSECRET')
      await put(server, '/page.html', page(''))
    })
  const MADE = 'new li { new br, new b { "a\u00a0< b" } }'
  const taken: [what: string, source: string, made: string, shown: RegExp][] = [
    ['what code builds', '<feed/>', MADE, /<li>(<br>|<br\/>|<br><\/br>)<b>a(&nbsp;|\u00a0)&lt; b<\/b><\/li>/],
    [
      'an entry with a prefix of its own',
      '<feed><li class="entry"><z:x xmlns:z="urn:b">d</z:x></li></feed>',
      ENTRY,
      /<li class="entry"><z:x[^>]*>d<\/z:x>/,
    ],
    [
      'an element of a page with a prefix that is not bound',
      '<i><z:x class="entry">d</z:x></i>',
      ENTRY,
      /<z:x class="entry"[^>]*>d<\/z:x>/,
    ],
  ]
  const LIST = { html: page('<div id="in"></div>'), xml: '<feed><div id="in"/></feed>' }
  for (const [what, source, made, shown] of taken)
    for (const shows of ['html', 'xml'] as const)
      for (const stores of ['html', 'xml'] as const)
        it(`COMP-86 COMP-120 REA-62 comes into ${stores} through a page of ${shows}: ${what}`, async () => {
          const path = `/shows.${shows}`
          const isXml = source.startsWith('<feed')
          const declared = `xmlns:p="${NS}/1.0" xmlns:r="${NS}/Binding/CSS"`
          await putAll(server, {
            '/feed.xml': isXml ? source : '<feed/>',
            '/page.html': page(isXml ? '' : source),
            [`/stores.${stores}`]: LIST[stores],
            '/shown.html': page(
              trigger({
                resource: path,
                method: 'POST',
                action: puts(isXml ? made : made.replace('/feed.xml', '/page.html'), path),
              }),
            ),
            [path]:
              shows === 'html'
                ? composed(`<main r:l="div#in"><p:stamp l></p:stamp></main>`)
                : `<feed ${declared} r:l="div#in"><p:stamp l=""/></feed>`,
          })
          try {
            const { status, text } = await http('POST', path, { Range: 'selector=#in' }, '<x/>')
            expect(status, text).to.equal(206)
            for (const each of [path, `/stores.${stores}`]) {
              const found = await http('GET', each)
              expect(found.status, found.text).to.equal(200)
              expect(found.text).to.match(shown)
            }
          } finally {
            for (const each of ['/shown.html', path, `/stores.${stores}`]) await remove(server, each)
          }
        })
  it('COMP-12 COMP-147 a prefix in letters that HTML leaves capitals means in a copy of its page what it means there, and that of an entry nothing', async () => {
    await putAll(server, {
      '/feed.xml': '<feed><li class="entry" xmlns:Ä="urn:b"><b Ä:x="1 + 1"/></li></feed>',
      '/page.html': composed(OWN.replace('e:y', 'Ä:y')).replace('xmlns:e=', 'xmlns:Ä='),
    })
    const { status, text } = await http('PUT', '/go.html', { 'Content-Type': 'text/html' }, 'x')
    expect(status, text).to.be.oneOf([200, 201, 204])
    expect((await http('GET', '/made.html')).text)
      .to.include('<i>own</i>')
      .and.include('1 + 1')
  })
  for (const [how, path, asked, body] of ways) {
    const made = async (feed: string) => {
      await putAll(server, {
        '/feed.xml': feed,
        '/page.html': composed(OWN),
        [path]: composed(`${OWN}<div id="in"></div>`),
      })
      const isPart = asked === path
      const { status, text } = isPart
        ? await http('POST', path, { Range: 'selector=#in' }, body)
        : await http('PUT', asked, { 'Content-Type': 'text/html' }, body)
      expect(status, text).to.be.oneOf([200, 201, 204, 206])
      const found = await http('GET', path)
      expect(found.status, found.text).to.equal(200)
      return found.text
    }
    for (const [what, declared, entry, shown] of entries)
      it(`COMP-120 COMP-145 COMP-147 ${how}: ${what} mean nothing, and those of the page what they did`, async () => {
        await put(server, '/feed.xml', `<feed ${declared}><list id="in"></list></feed>`)
        const posted = await http('POST', '/feed.xml', { Range: 'selector=#in' }, entry)
        expect(posted.status, posted.text).to.equal(206)
        const feed = (await server.site.find('/feed.xml'))?.bytes?.toString() ?? ''
        const text = await made(feed)
        expect(text).to.include('<i>own</i>').and.match(shown).and.not.include('TOPSECRET')
      })
    it(`COMP-12 ${how}: what an author has written there runs`, async () => {
      const text = await made(`<feed><li class="entry" ${LIVE}><b s:x="'live'"><q:stamp x=""/></b></li></feed>`)
      expect(text).to.include('<i>own</i>').and.include('<b>live</b>')
    })
  }
})
