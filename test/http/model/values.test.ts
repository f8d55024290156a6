import { expect } from 'chai'
import { describe, it } from 'mocha'
import { answerOf, verdictOf } from '../../pipeline/model/answers.ts'
import { enumeration, type Fields, instance, primitive, property, schema } from '../../pipeline/model/markup.ts'
import { onBothPlanes } from '../../pipeline/model/planes.ts'
import { listPage } from '../../pipeline/model/shelf.ts'
import { page } from '../../support/content.ts'

const THING = 'https://tides.example/Thing'
const STATE = 'https://tides.example/State'
const STATION = 'https://tides.example/Station'
const BUOY = 'https://tides.example/Buoy'

onBothPlanes('Data model, values', on => {
  /** Declares one property and appends one item. */
  async function judged(of: Fields, values: Fields | string): Promise<string> {
    await on.shelf.clear()
    await on.shelf.declare(
      schema(THING, {}, property('p', of)),
      schema(STATION, {}, property('code')),
      schema(BUOY, { parent: STATION }),
      enumeration(STATE, 'raw', 'checked'),
    )
    await on.shelf.list('/list.html')
    const item =
      typeof values === 'string' ? `<li itemscope itemtype="${THING}">${values}</li>` : instance(THING, values)
    return verdictOf(await on.shelf.append('/list.html', item))
  }

  describe('MOD-23 cardinality', () => {
    const counts: [string | undefined, string][] = [
      ['1..1', 'x . x x'],
      ['0..1', '. . x x'],
      ['1..n', 'x . . .'],
      ['0..n', '. . . .'],
      [undefined, '. . . .'],
      ['2..3', '. . . .'],
      ['', '. . . .'],
      [' 1..1 ', 'x . x x'],
    ]
    for (const [cardinality, verdicts] of counts) {
      for (const [count, verdict] of verdicts.split(' ').entries()) {
        const expected = verdict === '.' ? '206' : '422 cardinality p'
        it(`${cardinality ?? 'none'} with ${count} values: ${expected}`, async () => {
          const values = Array.from({ length: count }, (_, i) => `v${i}`)
          expect(await judged({ cardinality }, { p: values })).to.equal(expected)
        })
      }
    }

    it('counts an element with an empty value', async () => {
      expect(await judged({ cardinality: '1..1' }, { p: '' })).to.equal('206')
      expect(await judged({ cardinality: '1..1' }, { p: ['', 'x'] })).to.equal('422 cardinality p')
    })

    it('COMP-35 tells of templates that they are judged as they are stored', async () => {
      await judged({ type: primitive('Integer') }, { p: '1' })
      const wrong = await on.shelf.append('/list.html', instance(THING, { p: '{{ request.body.n }}' }))
      const [violation] = answerOf(wrong).violations
      expect(violation?.message).to.include(
        `is no Integer; a template is judged as it is stored: write itemtype="{{ '${THING}' }}"`,
      )
      const right = instance(`{{ '${THING}' }}`, { p: '{{ request.body.n }}' })
      expect(verdictOf(await on.shelf.append('/list.html', right))).to.equal('206')
    })

    it('tells what was expected and found', async () => {
      await on.shelf.clear()
      await on.shelf.declare(schema(THING, {}, property('p', { cardinality: '1..1' })))
      await on.shelf.list('/list.html')
      const answer = answerOf(await on.shelf.append('/list.html', instance(THING)))
      expect(answer).to.deep.equal({
        status: 422,
        type: 'SchemaViolation',
        title: on.title('422 Unprocessable Entity', 'Schema Violation'),
        description: 'Schema validation failed',
        violations: [
          {
            check: 'cardinality',
            itemtype: THING,
            property: 'p',
            message: `[${THING}].p: cardinality 1..1 violated: expected exactly 1 value, found 0`,
          },
        ],
      })
      expect(await on.shelf.text('/list.html')).to.equal(listPage())
    })
  })

  describe('MOD-21 item scope', () => {
    const one = { cardinality: '1..1' }
    for (const [name, markup, expected] of [
      ['values in wrappers', '<div><p><b itemprop="p">x</b></p></div>', '206'],
      ['values of nested items', '<div itemscope><b itemprop="p">x</b></div>', '422 cardinality p'],
      ['a nested item is one value', '<div itemprop="p" itemscope><b itemprop="p">x</b></div>', '206'],
      ['a value inside a value', '<div itemprop="p">a<b itemprop="p">x</b></div>', '422 cardinality p'],
      ['several names', '<b itemprop="q p  r">x</b>', '206'],
      ['the same name twice', '<b itemprop="p p">x</b>', '206'],
      ['names are case-sensitive', '<b itemprop="P">x</b>', '422 cardinality p'],
      ['in a template', '<template><b itemprop="p">x</b></template>', '422 cardinality p'],
      ['itemref is not followed (MOD-11)', '', '422 cardinality p'],
    ] as const) {
      it(name, async () => expect(await judged(one, markup)).to.equal(expected))
    }
  })

  describe('MOD-22 the value of an element', () => {
    const integer = { type: primitive('Integer') }
    for (const [markup, ok] of [
      ['<meta itemprop="p" content="7">', true],
      ['<meta itemprop="p">', false],
      ['<b itemprop="p" content="7">x</b>', false],
      ['<data itemprop="p" value="7">seven</data>', true],
      ['<data itemprop="p">7</data>', false],
      ['<meter itemprop="p" value="7">seven</meter>', true],
      ['<a itemprop="p" href="7">seven</a>', true],
      ['<a itemprop="p">7</a>', false],
      ['<img itemprop="p" src="7">', true],
      ['<object itemprop="p" data="7">seven</object>', true],
      ['<time itemprop="p" datetime="7">seven</time>', true],
      ['<time itemprop="p">7</time>', true],
      ['<b itemprop="p">\n  7\n</b>', true],
      ['<b itemprop="p"><i>7</i></b>', true],
      ['<meta itemprop="p" content=" 7">', false],
      ['<data itemprop="p" value="7 ">7</data>', false],
    ] as const) {
      it(`${markup} is ${ok ? 'a' : 'no'} 7`, async () =>
        expect(await judged(integer, markup)).to.equal(ok ? '206' : '422 type p'))
    }
  })

  describe('MOD-25 primitive types', () => {
    const cases: Record<string, { good: string[]; bad: string[] }> = {
      Text: { good: ['', 'x', ' '], bad: [] },
      String: { good: ['', 'x'], bad: [] },
      URL: {
        good: ['https://a.example/b?c#d', 'mailto:a@b.example', 'urn:x:y', 'HTTP://a', 'x-y+z.1:a'],
        bad: ['', '/img/a.png', '//host/x', 'a', 'http://', '1a:b', 'http://a b', 'http://a/\tb', ':a', 'https://[::1'],
      },
      Number: {
        good: ['0', '-1', '+1', '1.5', '5.', '.5', '-.5e-3', '1E+9', '007'],
        bad: ['', '.', '-', '1e', 'inf', 'NaN', '0x1', '1_000', ' 1', '1 ', '1,5', '٣', '--1', '1e1.5'],
      },
      FloatingPoint: { good: ['1.5'], bad: ['Infinity'] },
      Integer: {
        good: ['0', '-0', '+7', '0000000000000000000000000001', '9223372036854775807', '-9223372036854775808'],
        bad: ['', '1.0', '1e3', '9223372036854775808', '-9223372036854775809', '٣', '1 ', '-', '0x1', '9'.repeat(40)],
      },
      Boolean: { good: ['true', 'false'], bad: ['', 'True', '1', 'yes', 'true '] },
      Date: {
        good: ['2031-05-04', '2024-02-29', '2000-02-29', '0000-01-01'],
        bad: [
          '',
          '2023-02-29',
          '1900-02-29',
          '2031-13-01',
          '2031-00-10',
          '2031-04-31',
          '31-05-04',
          '2031-5-4',
          '2031-05-04Z',
          '2031-05-04T00:00:00Z',
        ],
      },
      DateTime: {
        good: [
          '2031-05-04T06:07:08Z',
          '2031-05-04T06:07:08.123456+02:00',
          '2031-05-04t06:07:08z',
          '2016-12-31T23:59:60Z',
          '2017-01-01T01:59:60+02:00',
        ],
        bad: [
          '',
          '2031-05-04',
          '2031-05-04T06:07Z',
          '2031-05-04T06:07:08',
          '2031-05-04T24:00:00Z',
          '2031-05-04T06:60:00Z',
          '2031-05-04T06:07:61Z',
          '2031-05-04T06:07:60Z',
          '2031-05-04 06:07:08Z',
          '2031-05-04T06:07:08+2:00',
          '2031-05-04T06:07:08+24:00',
          '2031-05-04T06:07:08.Z',
          '2031-02-30T06:07:08Z',
        ],
      },
      Cardinal: { good: ['0..1', '1..1', '0..n', '1..n'], bad: ['', '2..3', 'n'] },
    }
    for (const [name, { good, bad }] of Object.entries(cases)) {
      it(`${name} takes ${good.length} texts and refuses ${bad.length}`, async () => {
        await judged({ type: primitive(name) }, {})
        for (const text of good) {
          const answer = await on.shelf.append('/list.html', instance(THING, { p: text }))
          expect(`${text}: ${verdictOf(answer)}`).to.equal(`${text}: 206`)
        }
        for (const text of bad) {
          const answer = await on.shelf.append('/list.html', instance(THING, { p: text }))
          expect(`${text}: ${verdictOf(answer)}`).to.equal(`${text}: 422 type p`)
        }
      })
    }

    it('a nested item is no primitive value', async () => {
      expect(await judged({ type: primitive('Text') }, '<b itemprop="p" itemscope>x</b>')).to.equal('422 type p')
    })

    it('value is told for type failures, cut when long (MOD-132)', async () => {
      await judged({ type: primitive('Integer') }, {})
      const short = answerOf(await on.shelf.append('/list.html', instance(THING, { p: 'a<b>&"' })))
      expect(short.violations[0]).to.include({ value: 'a<b>&"', message: `[${THING}].p: 'a<b>&"' is no Integer` })
      const long = answerOf(await on.shelf.append('/list.html', instance(THING, { p: 'x'.repeat(5000) })))
      expect(long.violations[0]?.value).to.have.length.below(300)
    })
  })

  describe('MOD-26 enumerations', () => {
    for (const [value, expected] of [
      ['raw', '206'],
      ['checked', '206'],
      ['Raw', '422 enum p'],
      ['raw ', '422 enum p'],
      ['', '422 enum p'],
    ] as const) {
      it(`'${value}': ${expected}`, async () => expect(await judged({ type: STATE }, { p: value })).to.equal(expected))
    }

    it('the message names the rejected value and the permitted ones', async () => {
      await judged({ type: STATE }, {})
      const [violation] = answerOf(await on.shelf.append('/list.html', instance(THING, { p: 'gone' }))).violations
      expect(violation).to.include({ check: 'enum', value: 'gone' })
      expect(violation?.message).to.match(/'gone'.*'raw'.*'checked'/)
    })

    it('one that lists the empty value takes it (MOD-24)', async () => {
      await on.shelf.clear()
      await on.shelf.declare(schema(THING, {}, property('p', { type: STATE })), enumeration(STATE, '', 'x'))
      await on.shelf.list('/list.html')
      expect(verdictOf(await on.shelf.append('/list.html', instance(THING, { p: '' })))).to.equal('206')
    })

    it('one without values rejects everything', async () => {
      await on.shelf.clear()
      await on.shelf.declare(schema(THING, {}, property('p', { type: STATE })), enumeration(STATE))
      await on.shelf.list('/list.html')
      expect(verdictOf(await on.shelf.append('/list.html', instance(THING, { p: '' })))).to.equal('422 enum p')
      expect(verdictOf(await on.shelf.append('/list.html', instance(THING)))).to.equal('206')
    })

    it('`type` names it before `name` does', async () => {
      await on.shelf.clear()
      await on.shelf.declare(
        schema(THING, {}, property('p', { type: STATE })),
        `<div itemscope itemtype="https://schema.org/Enum"><meta itemprop="name" content="States"><meta itemprop="type" content="${STATE}"><meta itemprop="value" content="x"></div>`,
      )
      await on.shelf.list('/list.html')
      expect(verdictOf(await on.shelf.append('/list.html', instance(THING, { p: 'y' })))).to.equal('422 enum p')
    })
  })

  describe('MOD-27 schema-typed properties', () => {
    for (const [name, markup, expected] of [
      ['an item of the type', `<b itemprop="p" itemscope itemtype="${STATION}"></b>`, '206'],
      ['an item of a subtype', `<b itemprop="p" itemscope itemtype="${BUOY}"></b>`, '206'],
      ['an item of several types', `<b itemprop="p" itemscope itemtype="x:y ${BUOY}"></b>`, '206'],
      ['an item of another type', `<b itemprop="p" itemscope itemtype="${THING}"></b>`, '422 type p'],
      ['an item without type', '<b itemprop="p" itemscope></b>', '422 type p'],
      ['text', '<b itemprop="p">x</b>', '422 type p'],
    ] as const) {
      it(`${name}: ${expected}`, async () => expect(await judged({ type: STATION }, markup)).to.equal(expected))
    }
  })

  it('MOD-28 a type that names nothing known is not checked', async () => {
    for (const type of [
      undefined,
      'https://tides.example/Later',
      'https://schema.org/Thing',
      'https://platform.example/ns/Integer',
    ])
      expect(await judged({ type }, { p: 'anything' })).to.equal('206')
  })

  it('MOD-24 an absent property meets only cardinality', async () => {
    expect(await judged({ type: primitive('Integer') }, {})).to.equal('206')
  })

  it('MOD-112 all failures of cardinality, types and enumerations come in one answer', async () => {
    await on.shelf.clear()
    await on.shelf.declare(
      schema(
        THING,
        {},
        property('a', { cardinality: '1..1' }),
        property('b', { type: primitive('Date') }),
        property('c', { type: STATE }),
      ),
      enumeration(STATE, 'raw'),
    )
    await on.shelf.list('/list.html')
    const item = instance(THING, { b: ['x', '2031-05-04', 'y'], c: 'z' })
    const answer = verdictOf(await on.shelf.append('/list.html', item + instance(THING, { a: ['1', '2'] })))
    expect(answer).to.equal('422 cardinality a | type b | type b | enum c | cardinality a')
  })

  it('section 15: at most 100 violations are listed', async () => {
    await on.shelf.clear()
    await on.shelf.declare(schema(THING, {}, property('a', { cardinality: '1..1' })))
    const answer = await on.shelf.replace('/list.html', page(instance(THING).repeat(150)))
    expect(answerOf(answer).violations).to.have.length(100)
  })

  it('configuration items read `content` from any element (MOD-22, seed 2)', async () => {
    const type = 'https://platform.example/ns/Pair'
    await on.shelf.clear()
    await on.shelf.declare(schema(type, {}, property('p', { type: primitive('Integer') })))
    await on.shelf.list('/list.html')
    const markup = `<li itemscope itemtype="${type}"><b itemprop="p" content="7">x</b></li>`
    expect(verdictOf(await on.shelf.append('/list.html', markup))).to.equal('206')
  })
})
