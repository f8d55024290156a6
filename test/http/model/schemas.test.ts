import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { answerOf, verdictOf } from '../../pipeline/model/answers.ts'
import {
  enumeration,
  groupConstraint,
  instance,
  meta,
  primitive,
  property,
  schema,
} from '../../pipeline/model/markup.ts'
import { onBothPlanes } from '../../pipeline/model/planes.ts'
import { NS, page, put, remove } from '../../support/content.ts'

const THING = 'https://tides.example/Thing'
const PART = 'https://tides.example/Part'

onBothPlanes('Data model, schemas', on => {
  beforeEach(() => on.shelf.clear())

  const one = property('p', { cardinality: '1..1' })
  /** The verdict about an item without any property. */
  async function verdict(item = instance(THING)): Promise<string> {
    if (!(await on.shelf.server.site.store.find('/list.html'))) await on.shelf.list('/list.html')
    return verdictOf(await on.shelf.append('/list.html', item))
  }
  const REFUSED = '422 cardinality p'

  describe('MOD-1, MOD-2 where declarations are found', () => {
    const inside = meta('type', THING) + one
    for (const [name, markup, expected] of [
      ['hidden', `<div hidden itemscope itemtype="${NS}/Schema">${inside}</div>`, REFUSED],
      ['deep in the page', `<main><ul><li itemscope itemtype="${NS}/Schema">${inside}</ul></main>`, REFUSED],
      [
        'in another item',
        `<div itemscope><section itemprop="x" itemscope itemtype="${NS}/Schema">${inside}</section></div>`,
        REFUSED,
      ],
      ['one of several types', `<div itemscope itemtype="x:y ${NS}/Schema">${inside}</div>`, REFUSED],
      ['in a template', `<template><div itemscope itemtype="${NS}/Schema">${inside}</div></template>`, '206'],
      ['without itemscope', `<div itemtype="${NS}/Schema">${inside}</div>`, '206'],
      ['of a type in another case', `<div itemscope itemtype="${NS}/schema">${inside}</div>`, '206'],
      ['as text', `<pre>&lt;div itemscope itemtype="${NS}/Schema"></pre>`, '206'],
    ] as const) {
      it(`${name}: ${expected === '206' ? 'no schema' : 'a schema'}`, async () => {
        await put(on.shelf.server, '/deep/er/model.html', page(markup))
        expect(await verdict()).to.equal(expected)
      })
    }

    it('in XML documents', async () => {
      const xml = `<r><s itemscope="" itemtype="${NS}/Schema"><v itemprop="type">${THING}</v><q itemprop="property" itemscope="" itemtype="${NS}/Property"><v itemprop="name"> p </v><v itemprop="cardinality">1..1</v></q></s></r>`
      await put(on.shelf.server, '/model.xml', xml)
      expect(await verdict()).to.equal(REFUSED)
    })

    it('not in blobs', async () => {
      await put(on.shelf.server, '/model.txt', page(schema(THING, {}, one)), 'text/plain')
      expect(await verdict()).to.equal('206')
    })
  })

  describe('MOD-3 fields', () => {
    it('the first value counts, trimmed; wrappers and unknown fields mean nothing', async () => {
      await on.shelf.declare(
        `<table><tbody itemscope itemtype="${NS}/Schema"><tr><th>type<td itemprop="type">\n ${THING} \n<tr><td itemprop="nonsense">x
         <tr><td><ul><li itemprop="property" itemscope itemtype="${NS}/Property"><b itemprop="name">p</b><p><i itemprop="cardinality">1..1</i><i itemprop="cardinality">0..n</i></ul></table>`,
      )
      expect(await verdict()).to.equal(REFUSED)
    })
    it('a blank value counts as absent', async () => {
      await on.shelf.declare(
        schema(' ', {}, one),
        schema(THING, {}, property(' ', { cardinality: '1..1' }), property('q', { type: ' ' })),
      )
      expect(await verdict(instance(THING, { q: 'x' }))).to.equal('206')
    })
  })

  describe('MOD-4, MOD-5 when declarations bind', () => {
    it('not on the write that brings them, from the next request on', async () => {
      const both = page(`${schema(THING, {}, one)}<ul id="list">${instance(THING)}</ul>`)
      expect(verdictOf(await on.shelf.replace('/list.html', both))).to.equal('201')
      expect(await verdict()).to.equal(REFUSED)
      expect(verdictOf(await on.shelf.replace('/list.html', both))).to.equal(REFUSED)
    })

    it('changing and removing them counts from the next request on; stored data stay readable', async () => {
      await on.shelf.list('/list.html', instance(THING))
      await on.shelf.declare(schema(THING, {}, one))
      expect((await on.shelf.http('GET', '/list.html')).status).to.equal(200)
      expect(await verdict()).to.equal(REFUSED)
      await on.shelf.declare(schema(THING, {}, property('p', { cardinality: '0..1' })))
      expect(await verdict()).to.equal('206')
      await on.shelf.declare(schema(THING, {}, one))
      expect(await verdict()).to.equal(REFUSED)
      await remove(on.shelf.server, '/model.html')
      expect(await verdict()).to.equal('206')
    })

    it('one element of the declaration can be written by itself', async () => {
      await on.shelf.declare(schema(THING, {}, one))
      const cardinality = { Range: 'selector=meta[itemprop=cardinality]' }
      expect((await on.shelf.http('PUT', '/model.html', cardinality, meta('cardinality', '0..1'))).status).to.equal(206)
      expect(await verdict()).to.equal('206')
      expect((await on.shelf.http('DELETE', '/model.html', { Range: 'selector=[hidden]' })).status).to.equal(204)
      expect(await verdict(instance(THING, { p: ['1', '2'] }))).to.equal('206')
    })

    it('they move with their document', async () => {
      await on.shelf.declare(schema(THING, {}, one))
      await put(on.shelf.server, '/other/file.txt', '')
      expect((await on.shelf.http('MOVE', '/model.html', { Destination: '/other/model.html' })).status).to.equal(204)
      expect(await verdict()).to.equal(REFUSED)
      await remove(on.shelf.server, '/other/model.html')
      expect(await verdict()).to.equal('206')
    })
  })

  describe('MOD-6 duplicates', () => {
    const loose = schema(THING, {}, property('p'))
    const strict = schema(THING, {}, one)
    for (const [name, files, expected] of [
      ['the first in a document', { '/a.html': strict + loose }, REFUSED],
      ['the first in a document (2)', { '/a.html': loose + strict }, '206'],
      ['the first path', { '/a.html': strict, '/b.html': loose }, REFUSED],
      ['the first path, whichever was stored first', { '/b.html': strict, '/a.html': loose }, '206'],
      ['paths compare by bytes', { '/Z.html': strict, '/a.html': loose }, REFUSED],
      ['paths compare by bytes (2)', { '/\u{ff5e}.html': strict, '/\u{1f600}.html': loose }, REFUSED],
    ] as const) {
      it(name, async () => {
        for (const [path, markup] of Object.entries(files)) await put(on.shelf.server, path, page(markup))
        expect(await verdict()).to.equal(expected)
      })
    }
    it('the next one takes over when the first goes', async () => {
      await put(on.shelf.server, '/a.html', page(loose))
      await put(on.shelf.server, '/b.html', page(strict))
      expect(await verdict()).to.equal('206')
      await remove(on.shelf.server, '/a.html')
      expect(await verdict()).to.equal(REFUSED)
    })
    it('of enumerations the first wins as well; those of the site beat built-in types', async () => {
      const p = property('p', { type: primitive('Boolean') })
      await on.shelf.declare(schema(THING, {}, p), enumeration(primitive('Boolean'), 'maybe'))
      await put(on.shelf.server, '/z.html', page(enumeration(primitive('Boolean'), 'true')))
      expect(await verdict(instance(THING, { p: 'true' }))).to.equal('422 enum p')
      expect(await verdict(instance(THING, { p: 'maybe' }))).to.equal('206')
    })
  })

  it('MOD-8 what is broken is left out, the rest binds', async () => {
    await on.shelf.declare(
      `<div itemscope itemtype="${NS}/Schema">${one}</div>`,
      schema(
        THING,
        {},
        `<div itemprop="property" itemscope itemtype="${NS}/Property">${meta('cardinality', '1..1')}</div>`,
        `<div itemprop="property" itemscope itemtype="${NS}/Method">${meta('name', 'm')}</div>`,
        groupConstraint({ cardinality: '1..1' }),
        `<div itemprop="property">text</div>`,
        one,
      ),
      `<div itemscope itemtype="${NS}/ShapeConstraint"></div>`,
      '<div itemscope itemtype="https://schema.org/Enum"><meta itemprop="value" content="x"></div>',
    )
    expect(await verdict()).to.equal(REFUSED)
    expect(await verdict(instance(THING, { p: 'x' }))).to.equal('206')
  })

  it('MOD-10 an item of any other type under `property` is a property', async () => {
    await on.shelf.declare(schema(THING, {}, one.replace(`${NS}/Property`, 'x:y')))
    expect(await verdict()).to.equal(REFUSED)
  })

  describe('MOD-11 governed items', () => {
    beforeEach(() => on.shelf.declare(schema(THING, {}, one), schema(PART, {}, property('q', { cardinality: '1..1' }))))
    const good = meta('p', 'x')
    for (const [name, item, expected] of [
      ['of no governed type', '<li itemscope itemtype="x:y"></li>', '206'],
      ['without type', '<li itemscope></li>', '206'],
      ['one of several types', `<li itemscope itemtype="x:y\n${THING}"></li>`, REFUSED],
      ['two governed types: both', `<li itemscope itemtype="${THING} ${PART}">${good}</li>`, '422 cardinality q'],
      [
        'nested in an ungoverned item',
        `<li itemscope><b itemprop="x" itemscope itemtype="${THING}"></b></li>`,
        REFUSED,
      ],
      [
        'nested in a governed one',
        `<li itemscope itemtype="${THING}">${good}<b itemprop="r" itemscope itemtype="${PART}"></b></li>`,
        '422 cardinality q',
      ],
      ['without itemprop inside an item', `<li itemscope><b itemscope itemtype="${THING}"></b></li>`, REFUSED],
      ['in a template', `<li><template><b itemscope itemtype="${THING}"></b></template></li>`, '206'],
      ['with itemref, which is not followed', `<li itemscope itemtype="${THING}" itemref="elsewhere"></li>`, REFUSED],
      ['with properties that no schema names', `<li itemscope itemtype="${THING}">${good}${meta('z', '')}</li>`, '206'],
      ['of the type in another case', `<li itemscope itemtype="${THING.toUpperCase()}"></li>`, '206'],
      ['without itemscope', `<li itemtype="${THING}"></li>`, '206'],
    ] as const) {
      it(`${name}: ${expected}`, async () => {
        await on.shelf.list('/list.html', '<li id="elsewhere" itemprop="p">x</li>')
        expect(await verdict(item)).to.equal(expected)
      })
    }
  })

  describe('MOD-12 parents', () => {
    it('are followed to the root', async () => {
      await on.shelf.declare(schema('x:a', {}, one), schema('x:b', { parent: 'x:a' }), schema(THING, { parent: 'x:b' }))
      expect(await verdict()).to.equal(REFUSED)
      expect(await verdict(instance('x:b'))).to.equal(REFUSED)
    })
    it('an unknown one, or a built-in one, ends the chain', async () => {
      await on.shelf.declare(
        schema(THING, { parent: 'x:unknown' }, one),
        schema(PART, { parent: `${NS}/Instance` }, one),
      )
      expect(await verdict()).to.equal(REFUSED)
      expect(await verdict(instance(PART))).to.equal(REFUSED)
    })
    it('in a circle make every write of an instance fail', async () => {
      await on.shelf.declare(
        schema('x:a', { parent: 'x:b' }),
        schema('x:b', { parent: 'x:a' }),
        schema(THING, { parent: 'x:a' }),
        schema(PART, { parent: PART }),
        schema('x:other', {}, property('p')),
      )
      await on.shelf.list('/list.html')
      for (const type of ['x:a', 'x:b', THING, PART]) {
        const [violation, ...more] = answerOf(await on.shelf.append('/list.html', instance(type))).violations
        expect(more).to.deep.equal([])
        expect(violation).to.include({ check: 'schema', itemtype: type })
        expect(violation?.message).to.match(new RegExp(`^\\[${type}\\]: `))
      }
      expect(await verdict(instance('x:other'))).to.equal('206')
    })
    it('may be declared later, and elsewhere', async () => {
      await on.shelf.declare(schema(THING, { parent: 'x:a' }))
      expect(await verdict()).to.equal('206')
      await put(on.shelf.server, '/parent.html', page(schema('x:a', {}, one)))
      expect(await verdict()).to.equal(REFUSED)
      await remove(on.shelf.server, '/parent.html')
      expect(await verdict()).to.equal('206')
    })
  })

  describe('MOD-13 how levels combine', () => {
    it('the most derived declaration of a property replaces the others as a whole', async () => {
      await on.shelf.declare(
        schema(
          'x:a',
          {},
          property('p', { cardinality: '1..1', type: primitive('Integer') }),
          property('q', { cardinality: '1..1' }),
        ),
        schema(THING, { parent: 'x:a' }, property('p', { type: primitive('Date') })),
      )
      expect(await verdict(instance(THING, { q: '1' }))).to.equal('206')
      expect(await verdict(instance(THING, { p: ['1', '2031-05-04'] }))).to.equal('422 type p | cardinality q')
      expect(await verdict(instance('x:a', { p: ['1', '2'] }))).to.equal('422 cardinality p | cardinality q')
    })
    it('of equal names inside one schema the first wins', async () => {
      await on.shelf.declare(
        schema(THING, {}, property('p', { type: primitive('Integer') }), property('p', { cardinality: '1..1' })),
      )
      expect(await verdict()).to.equal('206')
      expect(await verdict(instance(THING, { p: 'x' }))).to.equal('422 type p')
    })
  })

  describe('MOD-80 groups', () => {
    const contact = (cardinality?: string) => groupConstraint({ group: 'contact', cardinality })
    const members = [
      property('phone', { group: 'contact' }),
      property('email', { group: ['x', 'contact'] }),
      property('fax'),
    ]
    for (const [cardinality, verdicts] of [
      ['1..1', 'x . x'],
      ['0..1', '. . x'],
      ['1..n', 'x . .'],
      ['0..n', '. . .'],
      [undefined, '. . .'],
    ] as const) {
      for (const [count, mark] of verdicts.split(' ').entries()) {
        it(`${cardinality ?? 'none'} with ${count} members: ${mark === '.' ? 'stored' : 'refused'}`, async () => {
          await on.shelf.declare(schema(THING, {}, ...members, contact(cardinality)))
          const values = Object.fromEntries(['phone', 'email'].slice(0, count).map(name => [name, ['', 'twice']]))
          expect(await verdict(instance(THING, { ...values, fax: '1' }))).to.equal(mark === '.' ? '206' : '422 group')
        })
      }
    }
    it('the constraint may name members of its own; its type does not matter', async () => {
      const constraint = groupConstraint({ group: 'contact', cardinality: '1..1', property: ['fax', 'undeclared'] })
      await on.shelf.declare(schema(THING, {}, ...members, constraint.replace(`${NS}/GroupConstraint`, 'x:any')))
      expect(await verdict(instance(THING, { fax: '1', phone: '1' }))).to.equal('422 group')
      expect(await verdict(instance(THING, { undeclared: '1' }))).to.equal('206')
    })
    it('MOD-13 most derived constraint, members of all levels', async () => {
      await on.shelf.declare(
        schema('x:a', {}, property('phone', { group: 'contact' }), contact('1..1')),
        schema(THING, { parent: 'x:a' }, property('email', { group: 'contact' }), contact('1..n')),
        schema(PART, { parent: 'x:a' }, property('phone', { group: 'other' }), property('email', { group: 'contact' })),
      )
      expect(await verdict(instance(THING, { phone: '1', email: '1' }))).to.equal('206')
      expect(await verdict(instance(THING))).to.equal('422 group')
      expect(await verdict(instance(PART, { phone: '1', email: '1' }))).to.equal('422 group')
      expect(await verdict(instance(PART, { phone: '1' }))).to.equal('206')
    })
    it('the answer', async () => {
      await on.shelf.declare(schema(THING, {}, ...members, contact('1..1')))
      await on.shelf.list('/list.html')
      const { violations } = answerOf(await on.shelf.append('/list.html', instance(THING)))
      expect(violations).to.have.length(1)
      expect(violations[0]).to.include({ check: 'group', itemtype: THING })
      expect(violations[0]).not.to.have.property('property')
      expect(violations[0]?.message).to.match(new RegExp(`^\\[${THING}\\]: group 'contact' constraint violated: `))
    })
    it('MOD-112 comes after cardinality and types', async () => {
      await on.shelf.declare(schema(THING, {}, ...members, one, contact('1..1')))
      expect(await verdict(instance(THING))).to.equal(REFUSED)
    })
  })

  it('MOD-85 a method is not data', async () => {
    const code = `<div itemprop="implementation" itemscope itemtype="${NS}/JavaScript/Module"><script type="module" itemprop="source">export default () => 1</script></div>`
    const method = `<div itemprop="property" itemscope itemtype="${NS}/Method">${meta('name', 'm')}${meta('cardinality', '1..1')}${code}</div>`
    await on.shelf.declare(schema(THING, {}, method))
    expect(await verdict()).to.equal('206')
  })
})
