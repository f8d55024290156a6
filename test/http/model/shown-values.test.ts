/** Unique values and references count where HTML has them, and where the page that is put together shows them. */

import { expect } from 'chai'
import { it } from 'mocha'
import { verdictOf } from '../../pipeline/model/answers.ts'
import { property, SCHEMA_HOST, schema } from '../../pipeline/model/markup.ts'
import { onBothPlanes } from '../../pipeline/model/planes.ts'
import { NS, put } from '../../support/content.ts'

const NOTE = 'https://tides.example/Note'
const FOLLOWER = 'https://tides.example/Follower'
const REFERENCE = `${NOTE}#code`

const page = (body: string) =>
  `<!doctype html><html xmlns:p="${NS}/1.0" xmlns:s="http://www.w3.org/2000/svg"><head><title>t</title></head><body>${body}</body></html>`

/** HTML ends a `p` in front of what the prefixed element holds, and moves that out of a table. */
const around = (name: string, type: string, markup: string) =>
  `<${name} class="g" itemscope itemtype="${type}"><s:d><div class="in">${markup}</div></s:d></${name}>`
const note = (name: string, ...codes: string[]) =>
  around(name, NOTE, codes.map(code => `<i itemprop="code">${code}</i>`).join(''))
const follower = (name: string, ...codes: string[]) =>
  around(name, FOLLOWER, codes.map(code => `<i itemprop="at">${code}</i>`).join(''))

onBothPlanes('Data model, values where pages show them', on => {
  const write = (path: string, method: string, selector: string, body?: string) =>
    on.shelf.http(method, path, { Range: `selector=${selector}` }, body)
  const verdict = async (path: string, method: string, selector: string, body?: string) =>
    verdictOf(await write(path, method, selector, body))

  for (const name of ['div', 'p', 'table'])
    it(`MOD-40 COMP-147 no two items share a value that a ${name} has in an element with a prefix`, async () => {
      await on.shelf.clear()
      await on.shelf.declare(schema(NOTE, {}, property('code', { unique: 'true' })))
      await put(on.shelf.server, '/a.html', page(note(name, 'a')))
      const refused = /^422 unique/
      expect(verdictOf(await on.shelf.replace('/b.html', page(note(name, 'a'))))).to.match(refused)
      expect(verdictOf(await on.shelf.replace('/b.html', page(note('div', 'a'))))).to.match(refused)
      // The same value in the same item, in both readings, is one.
      expect(verdictOf(await on.shelf.replace('/a.html', page(note(name, 'a', 'c'))))).to.equal('200')
      await put(on.shelf.server, '/b.html', page(`<section>${note(name, 'b')}</section>`))
      const code = '<i itemprop="code">a</i>'
      expect(await verdict('/b.html', 'POST', '.in', code)).to.match(refused)
      expect(await verdict('/b.html', 'PUT', '.in i', code)).to.match(refused)
      expect(await verdict('/b.html', 'PUT', '.g', note(name, 'c'))).to.match(refused)
      expect(await verdict('/b.html', 'POST', 'section', note(name, 'c'))).to.match(refused)
      expect(await verdict('/b.html', 'POST', 'section', note(name, 'd'))).to.equal('206')
      expect(await verdict('/b.html', 'POST', 'section', note('div', 'd'))).to.match(refused)
      await put(on.shelf.server, '/n.txt', page(note(name, 'a')), 'text/plain')
      const to = { Destination: '/n.html', Overwrite: 'T' }
      expect(verdictOf(await on.shelf.http('MOVE', '/n.txt', to))).to.match(refused)
      // What has gone is free again.
      expect((await write('/a.html', 'DELETE', '.in i')).status).to.equal(204)
      expect(await verdict('/b.html', 'POST', '.in', code)).to.equal('206')
    })

  for (const name of ['div', 'p', 'table'])
    it(`MOD-51 COMP-147 a value that a ${name} has in an element with a prefix must be there, and is referred to`, async () => {
      await on.shelf.clear()
      await on.shelf.declare(
        schema(NOTE, {}, property('code', { unique: 'true' })),
        schema(FOLLOWER, {}, property('at', { references: REFERENCE, cascade: 'restrict' })),
      )
      const refused = /^4(?:09|22) reference/
      expect(verdictOf(await on.shelf.replace('/f.html', page(follower(name, 'a'))))).to.match(refused)
      await put(on.shelf.server, '/f.html', page(`<section>${follower(name)}</section>`))
      const at = '<i itemprop="at">a</i>'
      expect(await verdict('/f.html', 'POST', '.in', at)).to.match(refused)
      expect(await verdict('/f.html', 'POST', 'section', follower(name, 'a'))).to.match(refused)
      await put(on.shelf.server, '/n.html', page(note(name, 'a', 'b')))
      expect(await verdict('/f.html', 'POST', '.in', at)).to.equal('206')
      // What is referred to stays, however it would go.
      const restricted = /^409 restrict/
      expect(await verdict('/n.html', 'DELETE', '.in i')).to.match(restricted)
      expect(await verdict('/n.html', 'PUT', '.in i', '<i itemprop="code">c</i>')).to.match(restricted)
      expect(await verdict('/n.html', 'DELETE', '.g')).to.match(restricted)
      expect(verdictOf(await on.shelf.replace('/n.html', page(note(name, 'b'))))).to.match(restricted)
      expect(verdictOf(await on.shelf.http('DELETE', '/n.html'))).to.match(restricted)
      expect(await verdict('/n.html', 'DELETE', '.in i:last-child')).to.equal('204')
      expect(await verdict('/f.html', 'DELETE', '.in i')).to.equal('204')
      expect(await verdict('/n.html', 'DELETE', '.in i')).to.equal('204')
    })

  for (const name of ['div', 'p', 'table'])
    it(`MOD-54 MOD-55 COMP-147 what refers to a value from an element with a prefix in a ${name} follows it`, async () => {
      const own = (code: string) =>
        name === 'table' ? `<caption itemprop="at">${code}</caption>` : `<b itemprop="at">${code}</b>`
      const following = (first: string, ...codes: string[]) =>
        follower(name, ...codes).replace('<s:d>', `${own(first)}<s:d>`)
      const followed = async () =>
        [...(await on.shelf.text('/f.html')).matchAll(/itemprop="at">(\w+)/g)].map(([, code]) => code).join('')
      const cases: [cardinality: string, markup: string, changed: string, left: string, items: number][] = [
        ['0..n', follower(name, 'a') + follower(name, 'b', 'a'), 'cbc', 'b', 2],
        ['1..n', following('a', 'a') + following('b', 'a'), 'ccbc', 'b', 1],
      ]
      for (const [cardinality, markup, changed, left, items] of cases) {
        await on.shelf.clear()
        await on.shelf.declare(
          schema(NOTE, {}, property('code', { unique: 'true' })),
          schema(FOLLOWER, {}, property('at', { references: REFERENCE, cascade: 'true', cardinality })),
        )
        await put(on.shelf.server, '/n.html', page(note(name, 'a') + note('div', 'b')))
        await put(on.shelf.server, '/f.html', page(`<u itemscope></u>${markup}<i>x</i>`))
        expect((await write('/n.html', 'PUT', '.in i', '<i itemprop="code">c</i>')).status).to.equal(206)
        expect(await followed()).to.equal(changed)
        expect((await write('/n.html', 'DELETE', '.in i')).status).to.equal(204)
        expect(await followed()).to.equal(left)
        const text = await on.shelf.text('/f.html')
        expect(text.split('class="g"')).to.have.length(items + 1)
        expect(text).to.contain('<i>x</i>')
      }
      // The last item takes its document along.
      await put(on.shelf.server, '/n.html', page(note(name, 'e')))
      await put(on.shelf.server, '/f.html', page(following('e', 'e')))
      expect((await write('/n.html', 'DELETE', '.in i')).status).to.equal(204)
      expect((await on.shelf.http('GET', '/f.html')).status).to.equal(404)
    })

  for (const name of ['div', 'p', 'table'])
    it(`MOD-70 MOD-30 COMP-147 values that a ${name} has in an element with a prefix go through @write, and need no default`, async () => {
      const write =
        '<script itemprop="@write" type="text/sessel">self.map(it => it.set_text(it.value() + "!"))</script>'
      await on.shelf.clear()
      await on.shelf.declare(
        schema(
          NOTE,
          {},
          property('word', { '@write': { markup: write } }),
          property('state', { default: 'raw', cardinality: '0..1' }),
        ),
      )
      const words = async () =>
        [...(await on.shelf.text('/n.html')).matchAll(/itemprop="word">([^<]*)/g)].map(([, word]) => word)
      const word = (text: string) => `<i itemprop="word">${text}</i>`
      const state = '<i itemprop="state">done</i>'
      const markup = around(name, NOTE, word('a') + state)
      expect(verdictOf(await on.shelf.replace('/n.html', page(`<section>${markup}</section>`)))).to.equal('201')
      expect(await words()).to.deep.equal(['a!'])
      expect(await on.shelf.text('/n.html')).not.to.contain('raw')
      expect(await verdict('/n.html', 'PUT', '.in i', word('b'))).to.equal('206')
      expect(await words()).to.deep.equal(['b!'])
      expect(await verdict('/n.html', 'POST', 'section', markup)).to.equal('206')
      expect(await words()).to.deep.equal(['b!', 'a!'])
    })

  for (const [where, html, own] of [
    ['the page', ` xmlns:p="${NS}/1.0" xmlns:s="urn:s"`, ''],
    // With the element HTML drops what it declares.
    ['that element alone', '', ' xmlns:s="urn:s"'],
  ] as const)
    it(`MOD-11 MOD-40 MOD-52 COMP-147 an item that pages alone show, as HTML has none in a select, is judged where it is the only one, its prefix bound by ${where}`, async () => {
      const only = (code: string) =>
        `<html${html}><select><s:d${own} class="o" itemscope itemtype="${NOTE}"><option itemprop="code">${code}</option></s:d></select></html>`
      await on.shelf.clear()
      await on.shelf.declare(
        schema(NOTE, {}, property('code', { unique: 'true', type: `${SCHEMA_HOST}/Number` })),
        schema(FOLLOWER, {}, property('at', { references: REFERENCE, cascade: 'restrict' })),
      )
      expect(verdictOf(await on.shelf.replace('/a.html', only('x')))).to.match(/^422 type/)
      expect(verdictOf(await on.shelf.replace('/a.html', only('1')))).to.equal('201')
      const refused = /^422 unique/
      expect(verdictOf(await on.shelf.replace('/b.html', only('1')))).to.match(refused)
      await put(on.shelf.server, '/b.html', '<html><body><p>x</p></body></html>')
      expect(await verdict('/b.html', 'PUT', 'p', only('1').replace(/<.?html[^>]*>/g, ''))).to.match(
        html ? /./ : refused,
      )
      await put(on.shelf.server, '/f.html', page(follower('div', '1')))
      expect(verdictOf(await on.shelf.replace('/a.html', only('2')))).to.match(/^409 restrict/)
      expect(verdictOf(await on.shelf.http('DELETE', '/a.html'))).to.match(/^409 restrict/)
      if (on.plane !== 'mount') return
      expect(verdictOf(await on.shelf.http('COPY', '/a.html', { Destination: '/c.html' }))).to.match(refused)
    })
})
