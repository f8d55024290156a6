import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { answerOf, verdictOf } from '../../pipeline/model/answers.ts'
import { enumeration, instance, meta, primitive, property, schema } from '../../pipeline/model/markup.ts'
import { onBothPlanes } from '../../pipeline/model/planes.ts'
import { listPage } from '../../pipeline/model/shelf.ts'
import { page, put } from '../../support/content.ts'
import { tagOf } from '../../support/http.ts'

const READING = 'https://tides.example/Reading'
const STATE = 'https://tides.example/State'
const RAW = '<meta itemprop="state" content="raw">'

onBothPlanes('Data model, defaults', on => {
  beforeEach(async () => {
    await on.shelf.clear()
    await on.shelf.declare(
      schema(
        READING,
        {},
        property('height', { type: primitive('Number') }),
        property('state', { type: STATE, cardinality: '1..1', default: 'raw' }),
      ),
      enumeration(STATE, 'raw', 'checked', ''),
    )
  })

  const selecting = (selector: string, more = '') => ({ Range: `selector=${selector}${more}` })

  it('MOD-30, MOD-115 POST: the default is the last child of the item; answer, tag and event show what was stored', async () => {
    await on.shelf.list('/log.html', '<li>first</li>')
    const item = `<li itemscope itemtype="${READING}"><data itemprop="height" value="1.42">1,42 m</data></li>`
    const answer = await on.shelf.append('/log.html', item)
    const stored = item.replace('</li>', `${RAW}</li>`)
    const answered = stored.replace('itemscope', 'itemscope=""')
    expect([answer.status, answer.text]).to.deep.equal([206, answered])
    expect(await on.shelf.text('/log.html')).to.equal(listPage('<li>first</li>').replace('</ul>', `${stored}</ul>`))
    const read = await on.shelf.http('GET', '/log.html', selecting('li[itemscope]'))
    expect([read.text, tagOf(read)]).to.deep.equal([answered, tagOf(answer)])
    const [, event] = await on.shelf.server.site.store.events('/log.html')
    expect(event?.payload).to.include(RAW)
  })

  it('MOD-30 PUT of an element and of a whole document, every byte beside it kept', async () => {
    const odd = (inside: string) =>
      `<!doctype HTML>\r\n<UL  id=list ><LI class='x' >  <li ITEMSCOPE itemtype='${READING}'  >${inside}<p>no end tags\r\n</UL>`
    const replaced = await on.shelf.replace('/log.html', odd('&eacute;'))
    expect(replaced.status).to.equal(201)
    const stored = odd('&eacute;').replace('\r\n</UL>', `\r\n</p>${RAW}</UL>`)
    expect(await on.shelf.text('/log.html')).to.equal(stored)
    if (on.plane === 'public surface') expect(replaced.text).to.equal(stored)
    expect(tagOf(replaced)).to.equal(tagOf(await on.shelf.http('GET', '/log.html')))
    const element = await on.shelf.http('PUT', '/log.html', selecting('.x'), `<li id=n itemscope itemtype=${READING}>`)
    expect(element.text).to.equal(`<li id="n" itemscope="" itemtype="${READING}">${RAW}</li>`)
    const text = await on.shelf.text('/log.html')
    expect(text).to.match(/^<!doctype HTML>\r\n<UL {2}id=list >/)
    expect(text).to.include(`<p>no end tags\r\n</p>${RAW}</UL>`)
  })

  it('MOD-30 a present empty value is not absent', async () => {
    await on.shelf.list('/log.html')
    const answer = await on.shelf.append('/log.html', instance(READING, { state: '' }))
    expect([answer.status, answer.text.includes('raw')]).to.deep.equal([206, false])
  })

  it('MOD-30 a default is judged like any other value', async () => {
    await on.shelf.declare(
      schema(READING, {}, property('state', { type: STATE, default: 'gone' })),
      enumeration(STATE, 'raw'),
    )
    await on.shelf.list('/log.html')
    expect(verdictOf(await on.shelf.append('/log.html', instance(READING)))).to.equal('422 enum state')
    await on.shelf.declare(schema(READING, {}, property('state', { unique: 'true', default: 'one' })))
    expect(verdictOf(await on.shelf.append('/log.html', instance(READING)))).to.equal('206')
    expect(verdictOf(await on.shelf.append('/log.html', instance(READING)))).to.equal('422 unique(state)')
  })

  it('MOD-30 items around a write get theirs, too; others stay as they are', async () => {
    await on.shelf.clear()
    await on.shelf.list('/log.html', instance(READING), `<li itemscope itemtype="${READING}"><b id="b">x</b></li>`)
    await on.shelf.declare(schema(READING, {}, property('state', { default: 'raw' })))
    const answer = await on.shelf.http('POST', '/log.html', selecting('#b'), 'y')
    expect([answer.status, answer.text]).to.deep.equal([206, 'y'])
    const expected = listPage(instance(READING), `<li itemscope itemtype="${READING}"><b id="b">xy</b>${RAW}</li>`)
    expect(await on.shelf.text('/log.html')).to.equal(expected)
  })

  it('EVT-25 MOD-115 a default in the new element is told with it, one beside it as a change of the whole', async () => {
    await on.shelf.list('/log.html', instance(READING, { state: 'checked' }))
    const last = async () => (await on.shelf.server.site.store.events('/log.html')).at(-1)?.payload ?? ''
    await on.shelf.append('/log.html', instance(READING))
    expect(await last())
      .to.include(`${RAW}</li></div>`)
      .and.not.include('<span itemprop="selector"></span>')
    const replaced = await on.shelf.http('PUT', '/log.html', selecting('meta[content=checked]'), '<b>x</b>')
    expect([replaced.status, replaced.text]).to.deep.equal([206, '<b>x</b>'])
    const whole = await on.shelf.text('/log.html')
    expect(whole).to.include(`<b>x</b>${RAW}</li>`)
    expect(await last())
      .to.include('<span itemprop="selector"></span>')
      .and.include(`>${whole}</div>`)
  })

  it('MOD-30 what is removed comes back as its default', async () => {
    await on.shelf.list('/log.html', instance(READING, { state: 'checked' }))
    expect((await on.shelf.http('DELETE', '/log.html', selecting('meta[itemprop]'))).status).to.equal(204)
    expect(await on.shelf.text('/log.html')).to.equal(listPage(`<li itemscope itemtype="${READING}">${RAW}</li>`))
  })

  it('MOD-30 a MOVE gives both items theirs', async () => {
    await on.shelf.clear()
    const item = (id: string, inside: string) => `<li id="${id}" itemscope itemtype="${READING}">${inside}</li>`
    await on.shelf.list('/log.html', item('a', '<b>x</b>'), item('c', ''))
    await on.shelf.declare(schema(READING, {}, property('state', { default: 'raw' })))
    const fields = { Destination: '/log.html', 'Destination-Range': 'selector=#c; placement=append' }
    expect((await on.shelf.http('MOVE', '/log.html', { ...selecting('b'), ...fields })).status).to.equal(204)
    expect(await on.shelf.text('/log.html')).to.equal(listPage(item('a', RAW), item('c', `<b>x</b>${RAW}`)))
  })

  it('MOD-13, MOD-30 the most derived declaration counts as a whole', async () => {
    await on.shelf.declare(
      schema('x:root', {}, property('a', { default: 'root' }), property('b', { default: 'root' })),
      schema(READING, { parent: 'x:root' }, property('a'), property('c', { default: 'leaf & "more" <b>' })),
    )
    await on.shelf.list('/log.html')
    const answer = await on.shelf.append('/log.html', instance(READING))
    expect(answer.text).to.equal(
      `<li itemscope="" itemtype="${READING}"><meta itemprop="c" content="leaf &amp; &quot;more&quot; &lt;b&gt;"><meta itemprop="b" content="root"></li>`,
    )
  })

  it('MOD-7 any element holds a literal default; a blank one is none', async () => {
    for (const [markup, expected] of [
      ['<code itemprop="default"> raw\n </code>', RAW],
      ['<data itemprop="default" value="raw">x</data>', '<meta itemprop="state" content="x">'],
      ['<meta itemprop="default" content=" ">', ''],
    ] as const) {
      await on.shelf.declare(schema(READING, {}, property('state', { default: { markup } })))
      await on.shelf.list('/log.html')
      const answer = await on.shelf.append('/log.html', instance(READING))
      const inside = /<li[^>]*>(.*)<\/li>/.exec(answer.text)?.[1]
      // A value attribute of `data` counts, and configuration items read `content` from any element.
      expect(inside).to.equal(expected.replace('"x"', '"raw"'))
    }
  })

  describe('MOD-31 placement', () => {
    const table = (row: string) => `<table><tbody>${row}</tbody></table>`
    for (const [name, markup, expected] of [
      [
        'a row: its last cell',
        table(`<tr itemscope itemtype="${READING}"><td>a</td><th>b</th></tr>`),
        `<th>b${RAW}</th></tr>`,
      ],
      [
        'a table: its last cell',
        `<table itemscope itemtype="${READING}"><tr><td>a<tr><td>b</table>`,
        `<td>b${RAW}</table>`,
      ],
      [
        'a table body',
        `<table><tbody itemscope itemtype="${READING}"><tr><td>a</td></tr></tbody></table>`,
        `<td>a${RAW}</td>`,
      ],
      [
        'a row whose last cell is an item of its own',
        table(`<tr itemscope itemtype="${READING}"><td>a</td><td itemscope>b</td></tr>`),
        `<td>a${RAW}</td>`,
      ],
      [
        'a paragraph that is never closed',
        `<p itemscope itemtype="${READING}">a`,
        `<p itemscope itemtype="${READING}">a${RAW}</main>`,
      ],
      ['a cell', table(`<tr><td itemscope itemtype="${READING}">a</td></tr>`), `a${RAW}</td>`],
      ['a list', `<ul itemscope itemtype="${READING}"><li>a</ul>`, `<li>a</li>${RAW}</ul>`],
    ] as const) {
      it(name, async () => {
        const answer = await on.shelf.replace('/p.html', page(`<main>${markup}</main>`))
        expect(answer.status, answer.text).to.equal(201)
        expect(await on.shelf.text('/p.html')).to.include(expected)
      })
    }

    it('the body, and the whole page', async () => {
      const body = `<!DOCTYPE html><html><head><title>t</title></head><body itemscope itemtype="${READING}">x</body>\n</html>\n`
      expect((await on.shelf.replace('/p.html', body)).status).to.equal(201)
      expect(await on.shelf.text('/p.html')).to.equal(body.replace('</body>', `${RAW}</body>`))
      const html = `<!DOCTYPE html><html itemscope itemtype="${READING}"><head><title>t</title></head><body>x</body></html>`
      expect((await on.shelf.replace('/q.html', html)).status).to.equal(201)
      expect(await on.shelf.text('/q.html')).to.equal(html.replace('</head>', `${RAW}</head>`))
    })

    for (const [name, markup] of [
      ['a row without cells', `<table><tr itemscope itemtype="${READING}"></tr></table>`],
      ['a void element', `<img itemscope itemtype="${READING}" alt="">`],
      ['a script', `<script itemscope itemtype="${READING}">x</script>`],
      ['a list of options', `<select itemscope itemtype="${READING}"><option>x</select>`],
      ['a text area', `<textarea itemscope itemtype="${READING}">x</textarea>`],
    ] as const) {
      it(`no place: ${name}`, async () => {
        const answer = await on.shelf.replace('/p.html', page(`<main>${markup}</main>`))
        expect(verdictOf(answer)).to.equal('422 default state')
      })
    }

    it('an XML document', async () => {
      const type = `itemscope="" itemtype="${READING}"`
      for (const [before, after] of [
        [`<r><i ${type}/></r>`, `<r><i ${type}><meta itemprop="state" content="raw"/></i></r>`],
        [
          `<h:r xmlns:h="http://www.w3.org/1999/xhtml"><h:i ${type}><h:b/></h:i></h:r>`,
          `<h:r xmlns:h="http://www.w3.org/1999/xhtml"><h:i ${type}><h:b/><h:meta itemprop="state" content="raw"/></h:i></h:r>`,
        ],
        [
          `<r xmlns="urn:r"><i ${type}>x</i></r>`,
          `<r xmlns="urn:r"><i ${type}>x<meta xmlns="http://www.w3.org/1999/xhtml" itemprop="state" content="raw"/></i></r>`,
        ],
      ] as const) {
        const answer = await on.shelf.http('PUT', '/p.xml', { 'Content-Type': 'application/xml' }, before)
        expect(answer.status, answer.text).to.be.oneOf([200, 201])
        expect(await on.shelf.text('/p.xml')).to.equal(after)
      }
    })
  })

  describe('MOD-45 keys', () => {
    const KEY = /<meta itemprop="key" content="([a-z][a-z0-9]{7})">/
    const declareKey = (more: Record<string, string>) =>
      on.shelf.declare(schema(READING, {}, property('key', { '@key': 'true', ...more }), property('name')))

    it('an honoured key gets a random value, another each time', async () => {
      await declareKey({ unique: 'true', cardinality: '1..1' })
      await on.shelf.list('/log.html')
      const keys = new Set<string>()
      for (let i = 0; i < 4; i++) {
        const answer = await on.shelf.append('/log.html', instance(READING, { name: 'n' }))
        keys.add(KEY.exec(answer.text)?.[1] ?? 'none')
      }
      expect(keys).to.have.length(4)
      expect(keys).not.to.include('none')
    })

    it('a key that is there, or has a default, is left alone', async () => {
      await declareKey({ unique: 'true', default: 'given' })
      await on.shelf.list('/log.html')
      expect((await on.shelf.append('/log.html', instance(READING, { key: 'mine' }))).text).to.match(/content="mine"/)
      expect((await on.shelf.append('/log.html', instance(READING))).text).to.include('content="given"')
    })

    it('MOD-44 one that is not unique by itself is no key', async () => {
      for (const more of [{}, { unique: 'group' }]) {
        await declareKey(more as Record<string, string>)
        await on.shelf.list('/log.html')
        expect((await on.shelf.append('/log.html', instance(READING))).text).not.to.match(KEY)
      }
    })

    it('MOD-44 the first of several; own ones before those of the parent', async () => {
      const key = { '@key': 'true', unique: 'true' }
      await on.shelf.declare(
        schema('x:root', {}, property('root', key)),
        schema(READING, { parent: 'x:root' }, property('a'), property('b', key), property('c', key)),
        schema('x:leaf', { parent: READING }),
      )
      await on.shelf.list('/log.html')
      for (const type of [READING, 'x:leaf']) {
        const { text } = await on.shelf.append('/log.html', instance(type))
        expect(text.match(/itemprop="\w+"/g)).to.deep.equal(['itemprop="b"'])
      }
      expect((await on.shelf.append('/log.html', instance('x:root'))).text).to.include('itemprop="root"')
    })

    it('MOD-46 bodies sent over HTTP get no id', async () => {
      await declareKey({ unique: 'true' })
      await on.shelf.list('/log.html')
      expect((await on.shelf.append('/log.html', instance(READING, { key: 'mine' }))).text).not.to.include(' id=')
    })
  })

  it('a page that is not UTF-8 cannot be added to', async () => {
    const bytes = Buffer.concat([Buffer.from(listPage(instance(READING))), Buffer.from([0xff])])
    const answer = await on.shelf.http('PUT', '/log.html', {}, bytes)
    expect(answer.status).to.equal(422)
  })

  it('MOD-4 the write that brings a declaration is judged by those before it', async () => {
    await put(
      on.shelf.server,
      '/both.html',
      page(schema('x:new', {}, property('p', { default: 'd' })) + instance('x:new')),
    )
    expect(await on.shelf.text('/both.html')).not.to.include(meta('p', 'd'))
    const again = await on.shelf.http('POST', '/both.html', selecting('[itemtype="x:new"]'), 'x')
    expect(again.status).to.equal(206)
    expect(await on.shelf.text('/both.html')).to.include(`x${meta('p', 'd')}</li>`)
  })

  it('many items at once are completed in one reading', async () => {
    const items = Array.from({ length: 2000 }, (_, i) => `<li itemscope itemtype="${READING}">${i}`)
    const answer = await on.shelf.replace('/log.html', listPage(...items))
    expect(answer.status).to.equal(201)
    expect((await on.shelf.text('/log.html')).split(RAW)).to.have.length(2001)
  })

  describe('MOD-7 code of a language that nobody knows', () => {
    const code = (slot: string) =>
      `<div itemprop="${slot}" itemscope itemtype="https://platform.example/ns/Python"><script itemprop="source">1</script></div>`
    const script = (slot: string) => `<script type="text/sessel" itemprop="${slot}">1</script>`
    for (const [slot, status] of [
      ['default', 422],
      ['@validate', 422],
      ['@write', 500],
    ] as const) {
      it(`a schema with ${slot} in it is stored; a write that needs it fails, others do not`, async () => {
        const declared = schema(READING, {}, property('p', { [slot]: { markup: code(slot) } }), property('q'))
        const stored = await on.shelf.replace('/model.html', page(declared))
        expect(stored.status).to.equal(200)
        await on.shelf.list('/log.html')
        const needs = slot === 'default' ? instance(READING) : instance(READING, { p: 'x' })
        const spares = slot === 'default' ? instance(READING, { p: 'x' }) : instance(READING)
        const refused = await on.shelf.append('/log.html', needs)
        expect(refused.status).to.equal(status)
        expect(refused.text).to.include('unknown-language')
        expect(await on.shelf.text('/log.html')).to.equal(listPage())
        expect((await on.shelf.append('/log.html', spares)).status).to.equal(206)
      })
    }

    it('a validator of the whole item is needed by every write of one', async () => {
      await on.shelf.declare(
        schema(READING, { '@validate': { markup: code('@validate') } }, property('q', { cardinality: '1..1' })),
      )
      await on.shelf.list('/log.html')
      expect((await on.shelf.append('/log.html', instance(READING, { q: '1' }))).text).to.include('unknown-language')
      // Cardinality comes first (MOD-112).
      expect(verdictOf(await on.shelf.append('/log.html', instance(READING)))).to.equal('422 cardinality q')
    })

    it('slots that no write needs do no harm', async () => {
      const slots = { '@read': { markup: script('@read') }, '@computed': { markup: script('@computed') } }
      await on.shelf.declare(schema(READING, {}, property('p', slots)))
      await on.shelf.list('/log.html')
      expect((await on.shelf.append('/log.html', instance(READING, { p: '1' }))).status).to.equal(206)
    })
  })

  it('MOD-33 the answer of a default without place', async () => {
    const answer = answerOf(await on.shelf.replace('/p.html', page(`<img itemscope itemtype="${READING}" alt="">`)))
    expect(answer.violations).to.deep.equal([
      {
        check: 'default',
        itemtype: READING,
        property: 'state',
        message: `[${READING}].state: there is no place for its default in <img>`,
      },
    ])
  })
})
