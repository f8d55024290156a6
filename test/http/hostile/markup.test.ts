import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { page, put, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { runsInTime } from '../../support/loop-hold.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { failureOf, leavesAlone, moving, selecting, textOf } from '../write-checks.ts'

const DOC = page('<ul id="l"><li id="a">a</li></ul>')
const XML = '<f><e id="a">a</e></f>'

const times = (count: number, make: (i: number) => string) => Array.from({ length: count }, (_, i) => make(i)).join('')
const attributes = (count: number) => times(count, i => ` a${i}="x"`)
/** A tower of elements, `depth` of them. */
const tower = (depth: number, name = 'div') => `<${name}>`.repeat(depth) + `</${name}>`.repeat(depth)

/** XML that tells a parser to read something else, or to grow. */
const BOMBS: [name: string, xml: string][] = [
  [
    'a billion laughs',
    `<!DOCTYPE l [<!ENTITY a "ha">${times(9, i => `<!ENTITY ${'bcdefghij'.charAt(i)} "${`&${'abcdefghi'.charAt(i)};`.repeat(10)}">`)}]><l>&j;</l>`,
  ],
  ['quadratic blow-up', `<!DOCTYPE l [<!ENTITY a "${'x'.repeat(50_000)}">]><l>${'&a;'.repeat(10_000)}</l>`],
  ['an entity of itself', '<!DOCTYPE l [<!ENTITY a "&a;">]><l>&a;</l>'],
  ['an external entity', '<!DOCTYPE l [<!ENTITY x SYSTEM "file:///etc/passwd">]><l>&x;</l>'],
  ['an external entity over the network', '<!DOCTYPE l [<!ENTITY x SYSTEM "http://127.0.0.1:1/">]><l>&x;</l>'],
  ['a parameter entity', '<!DOCTYPE l [<!ENTITY % p SYSTEM "file:///etc/passwd">%p;]><l/>'],
  ['an attribute of an entity', '<!DOCTYPE l [<!ENTITY a "x">]><l a="&a;"/>'],
  ['default attributes', '<!DOCTYPE l [<!ATTLIST l a CDATA "x">]><l/>'],
  ['an unknown entity', '<l>&secret;</l>'],
  ['an external subset that defines entities', '<!DOCTYPE l SYSTEM "http://127.0.0.1:1/x.dtd"><l>&x;</l>'],
]

describe('hostile markup', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/rules.html', rulesPage(['*', 'PUT|POST|DELETE|MOVE', 'Allow', '/*']))
  })
  after(() => server.close())
  beforeEach(async () => {
    await put(server, '/d.html', DOC)
    await put(server, '/f.xml', XML)
  })

  /** The request fails as told, nothing changes, and the loop is not held. */
  async function refused(failure: string, path: string, run: () => ReturnType<Client>): Promise<void> {
    const failing = async () => expect(failureOf(await run())).to.equal(failure)
    await runsInTime(() => leavesAlone(server, [path], failing))
    expect((await http('GET', path)).status).to.be.oneOf([200, 404])
  }

  describe('XML', () => {
    for (const [name, xml] of BOMBS) {
      it(`HTTP-23 ${name}: 422, whole or as a fragment`, async () => {
        await refused('422 InvalidFragment', '/f.xml', () => http('PUT', '/f.xml', {}, xml))
        await refused('422 InvalidFragment', '/new.xml', () => http('PUT', '/new.xml', {}, xml))
        await refused('422 InvalidFragment', '/f.xml', () => http('PUT', '/f.xml', selecting('#a'), xml))
        await refused('422 InvalidFragment', '/f.xml', () => http('POST', '/f.xml', selecting('f'), xml))
      })
    }

    it('HTTP-23 predefined and numeric references are read, others end the write', async () => {
      expect((await http('PUT', '/f.xml', selecting('#a'), '<e id="a">&lt;&#65;&#x42;</e>')).status).to.equal(206)
      for (const reference of ['&#0;', '&#x110000;', '&#xD800;', '&#xFFFE;', '&nbsp;', '&;', '&#;', '& ']) {
        await refused('422 InvalidFragment', '/f.xml', () =>
          http('POST', '/f.xml', selecting('f'), `<e>${reference}</e>`),
        )
      }
    })

    it('HTTP-23 many namespaces in many scopes stay linear', async () => {
      const scopes = `${times(400, i => `<a xmlns:n${i}="urn:${i}">`)}${'</a>'.repeat(400)}`
      await runsInTime(async () => {
        expect((await http('PUT', '/n.xml', {}, `<r>${scopes.repeat(20)}</r>`)).status).to.be.oneOf([200, 201])
        expect((await http('POST', '/n.xml', selecting('r'), '<z/>')).status).to.equal(206)
      })
    })

    it('HTTP-23 duplicate attributes, unbound prefixes, bad names and control characters are 422', async () => {
      for (const xml of [
        '<a b="1" b="2"/>',
        '<a xmlns:p="u" xmlns:q="u" p:b="" q:b=""/>',
        '<p:a/>',
        '<1/>',
        '<a>\u0001</a>',
        '<a b="<"/>',
        '<a><!-- -- --></a>',
        '<a>]]></a>',
        '<?xml version="2.0"?><a/>x',
        '<a/><b/>',
        'text',
      ]) {
        await refused('422 InvalidFragment', '/x.xml', () => http('PUT', '/x.xml', {}, xml))
      }
    })
  })

  describe('depth', () => {
    // html and body are above it.
    it('HTTP-181 512 deep is stored, 513 is 422: whole documents', async () => {
      expect((await http('PUT', '/deep.html', {}, tower(510))).status).to.equal(201)
      await refused('422 InvalidFragment', '/deeper.html', () => http('PUT', '/deeper.html', {}, tower(511)))
      expect((await http('PUT', '/deep.xml', {}, tower(512, 'a'))).status).to.equal(201)
      await refused('422 InvalidFragment', '/deeper.xml', () => http('PUT', '/deeper.xml', {}, tower(513, 'a')))
    })

    it('HTTP-181 the depth of the place counts for fragments', async () => {
      await put(server, '/place.html', `${'<div>'.repeat(509)}<p id="p"></p>${'</div>'.repeat(509)}`)
      expect((await http('PUT', '/place.html', selecting('#p'), '<p id="p"></p>')).status).to.equal(206)
      await refused('422 InvalidFragment', '/place.html', () => http('POST', '/place.html', selecting('#p'), '<b></b>'))
      await refused('422 InvalidFragment', '/place.html', () =>
        http('PUT', '/place.html', selecting('#p'), '<p><b></b></p>'),
      )
      expect((await http('POST', '/place.html', selecting('#p', 'after'), '<p id="q"></p>')).status).to.equal(206)
      await put(server, '/place.xml', `${'<a>'.repeat(511)}<b id="p"/>${'</a>'.repeat(511)}`)
      await refused('422 InvalidFragment', '/place.xml', () => http('POST', '/place.xml', selecting('#p'), '<c/>'))
    })

    it('HTTP-181 no chain of moves gets deeper', async () => {
      const half = `${'<div>'.repeat(300)}<b class="leaf"></b>${'</div>'.repeat(300)}`
      await put(server, '/m.html', `<main><section id="x">${half}</section><section id="y">${half}</section></main>`)
      const fields = moving('/m.html', '#x', '#y .leaf', 'append')
      await refused('422 InvalidFragment', '/m.html', () => http('MOVE', '/m.html', fields))
    })

    it('HTTP-181 fragments put into each other end at the limit', async () => {
      await put(server, '/spiral.html', page('<div id="s"></div>'))
      const statuses: number[] = []
      for (let i = 0; i < 13 && statuses.at(-1) !== 422; i++) {
        const innermost = selecting('div:not(:has(*))')
        statuses.push((await http('POST', '/spiral.html', innermost, tower(50))).status)
      }
      // html, body, the place, and ten times fifty.
      expect(statuses).to.deep.equal([...Array(10).fill(206), 422])
    })

    for (const count of [100_000, 1_000_000]) {
      it(`HTTP-181 ${count} open tags are 422, quickly`, async () => {
        await refused('422 InvalidFragment', '/flood.html', () => http('PUT', '/flood.html', {}, '<div>'.repeat(count)))
        await refused('422 InvalidFragment', '/flood.xml', () => http('PUT', '/flood.xml', {}, '<a>'.repeat(count)))
        const nested = '<li><ul>'.repeat(count / 2)
        await refused('422 InvalidFragment', '/d.html', () => http('POST', '/d.html', selecting('#l'), nested))
        await refused('422 InvalidFragment', '/d.html', () => http('PUT', '/d.html', selecting('#a'), nested))
      })
    }

    it('HTTP-181 20,000 open tags of any other name are stored or 422, in time', async () => {
      const names = 'a b i font nobr p li dd option button select table tr td form svg math template frameset ruby rt'
      for (const name of names.split(' ')) {
        await runsInTime(async () => {
          const answer = await http('PUT', `/flood-${name}.html`, {}, `<${name}>x`.repeat(20_000))
          expect(answer.status, name).to.be.oneOf([200, 201, 422])
          if (answer.status < 300)
            expect((await http('GET', `/flood-${name}.html`, selecting('html'))).status).to.equal(206)
        })
      }
    })
  })

  describe('size', () => {
    it('HTTP-181 a thousand attributes are stored, one more is 422', async () => {
      expect((await http('PUT', '/d.html', selecting('#a'), `<li id="a"${attributes(999)}>x</li>`)).status).to.equal(
        206,
      )
      await refused('422 InvalidFragment', '/d.html', () =>
        http('PUT', '/d.html', selecting('#a'), `<li${attributes(1_001)}>x</li>`),
      )
      await refused('422 InvalidFragment', '/many.html', () => http('PUT', '/many.html', {}, `<p${attributes(1_001)}>`))
      expect((await http('PUT', '/many.xml', {}, `<p${attributes(1_000)}/>`)).status).to.equal(201)
      await refused('422 InvalidFragment', '/more.xml', () => http('PUT', '/more.xml', {}, `<p${attributes(1_001)}/>`))
    })

    it('HTTP-181 100,000 attributes on one tag are 422, quickly', async () => {
      await refused('422 InvalidFragment', '/many.html', () =>
        http('PUT', '/many.html', {}, `<p${attributes(100_000)}>`),
      )
      await refused('422 InvalidFragment', '/many2.xml', () =>
        http('PUT', '/many2.xml', {}, `<p${attributes(100_000)}/>`),
      )
    })

    it('HTTP-181 formatting elements that the parser copies into every paragraph cannot multiply', async () => {
      const open = times(200, i => `<b class="c${i}">`)
      await refused('422 InvalidFragment', '/b.html', () =>
        http('PUT', '/b.html', {}, `<p>${open}${'<p>x'.repeat(5_000)}`),
      )
      await refused('422 InvalidFragment', '/d.html', () =>
        http('POST', '/d.html', selecting('body'), `<p>${open}${'<p>x'.repeat(5_000)}`),
      )
    })

    it('HTTP-181 `html` and `body` tags repeated with new attributes stay linear', async () => {
      await runsInTime(() =>
        http(
          'PUT',
          '/attrs.html',
          {},
          times(5_000, i => `<body a${i}=x><html b${i}=x>`),
        ),
      )
    })

    const long: [name: string, markup: string][] = [
      ['text', 'x'.repeat(300_000)],
      ['an attribute', `<p title="${'x'.repeat(300_000)}">`],
      ['a comment', `<!--${'-'.repeat(300_000)}-->`],
      ['references', '&amp;'.repeat(200_000)],
      ['references that are none', '&amp'.repeat(200_000)],
      ['less-than signs', '<'.repeat(300_000)],
      ['end tags', '</p>'.repeat(20_000)],
      ['unclosed comments', '<!--'.repeat(200_000)],
      ['unclosed CDATA', '<svg><![CDATA['.repeat(20_000)],
      ['a script that does not end', `<script>${'<!--<script>'.repeat(50_000)}`],
      ['NUL', '\0'.repeat(500_000)],
      ['spaces', ' '.repeat(300_000)],
      ['line ends', '\r\n'.repeat(500_000)],
    ]
    for (const [what, markup] of [
      ['an attribute', `<p ${'x'.repeat(300_000)}>`],
      ['a tag', `<${'x'.repeat(300_000)}>`],
    ])
      it(`HTTP-181 the name of ${what} without end is refused in time`, async () => {
        await runsInTime(async () => expect((await http('PUT', '/long.html', {}, markup)).status).to.equal(422))
      })

    for (const [name, markup] of long) {
      it(`HTTP-23 ${name} without end is stored, selected and edited in time`, async () => {
        await runsInTime(async () => {
          expect((await http('PUT', '/long.html', {}, `<i id="i">i</i>${markup}`)).status).to.be.oneOf([200, 201])
          expect((await http('PUT', '/long.html', selecting('#i'), '<i id="i">j</i>')).status).to.equal(206)
        })
        expect((await textOf(server, '/long.html')).slice(0, 100)).to.match(/<i id="i">j<\/i>/)
      })
    }

    it('HTTP-71 items that refer to each other a thousandfold are stored or refused in time', async () => {
      const items = times(300, i => `<div id="n${i}" itemscope itemref="${times(300, j => `n${j} `)}"></div>`)
      await runsInTime(async () => {
        expect((await http('PUT', '/refs.html', {}, page(items))).status).to.be.oneOf([200, 201, 422])
        await http('GET', '/refs.html', { Accept: 'application/ld+json' })
      })
    })
  })
})
