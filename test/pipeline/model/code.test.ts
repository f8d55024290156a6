import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { type CodeFailure, Fault } from '../../../pipeline/fault.ts'
import type { CodeHost, CodeItem, CodeResult, CodeValues, Given } from '../../../pipeline/model/code.ts'
import type { RawCode } from '../../../pipeline/model/declarations.ts'
import { isItem } from '../../../pipeline/model/items.ts'
import { cloneNode } from '../../../pipeline/tree/clone.ts'
import { parseFragment } from '../../../pipeline/tree/fragment.ts'
import { attribute, type ElementNode } from '../../../pipeline/tree/nodes.ts'
import { outerMarkup, textContent } from '../../../pipeline/tree/serialize.ts'
import { NS, page } from '../../support/content.ts'
import { readAnswer } from './answers.ts'
import { code, type HostedSite, openHosted } from './hosted.ts'
import { enumeration, type Fields, instance, meta, primitive, property, schema } from './markup.ts'
import { listPage } from './shelf.ts'

const THING = 'https://tides.example/Thing'
const JAVASCRIPT = `${NS}/JavaScript/Module`
const LAMBDA = `${NS}/Sessel/Lambda`

type Values = (at: CodeValues) => Given | 'parse' | 'threw' | 'timeout' | 'answer'
type Truth = (at: CodeItem) => boolean | 'parse' | 'threw' | 'timeout' | 'answer'

const textOf = (element: ElementNode | undefined) =>
  element ? (attribute(element, 'content') ?? textContent(element)) : ''
const texts =
  (change: (text: string) => string | undefined): Values =>
  ({ elements }) => ({
    texts: elements.flatMap(element => change(textOf(element)) ?? []),
  })

describe('Data model, code through its host', () => {
  const seen: string[] = []
  let site: HostedSite

  const writers: Record<string, Values> = {
    lower: texts(text => text.toLowerCase()),
    mark: texts(text => `${text}!`),
    drop: () => ({ texts: [] }),
    twice: ({ elements }) => ({ texts: [textOf(elements[0]), `${textOf(elements[0])} again`] }),
    keep: ({ elements }) => ({ elements }),
    change: ({ elements }) => {
      const changed = elements.map(element => cloneNode(element))
      for (const { attrs } of changed) for (const a of attrs) if (a.name === 'content') a.value += '?'
      return { elements: changed }
    },
    element: ({ element }) => ({
      elements: parseFragment('html', '<b itemprop="p">new &amp; bold</b>', element).filter(node => 'tagName' in node),
    }),
    broken: () => 'parse',
    throws: () => 'threw',
    slow: () => 'timeout',
    answers: () => 'answer',
  }
  const validators: Record<string, Truth> = {
    yes: () => true,
    no: () => false,
    seesDefault: ({ element }) => textOfItem(element).includes('state=raw'),
    broken: () => 'parse',
    throws: () => 'threw',
    slow: () => 'timeout',
    answers: () => 'answer',
  }

  function textOfItem(element: ElementNode): string {
    return outerMarkup(element, 'html').replaceAll('<meta itemprop="state" content="raw">', 'state=raw')
  }

  function outcome<T>(code: RawCode, value: T | 'parse' | 'threw' | 'timeout' | 'answer'): CodeResult<T> {
    const { type } = code
    if (value === 'answer')
      return { response: { status: 418, headers: { 'Content-Type': 'text/plain' }, body: 'short and stout' } }
    for (const variant of ['parse', 'threw', 'timeout'] as const) {
      if (value === variant)
        return {
          failure: { language: type || `${NS}/Sessel`, variant, message: `it ${variant}` } satisfies CodeFailure,
        }
    }
    return { value: value as T }
  }

  const host: CodeHost = {
    async default(code, at) {
      seen.push(`default ${at.property} of ${at.declared.join()} in ${at.path}`)
      if (code.source === 'element') {
        const [node] = parseFragment('html', '<b itemprop="wrong">made</b>', at.element)
        return { value: node as ElementNode }
      }
      if (code.source === 'nothing') return { value: undefined }
      return outcome<string>(
        code,
        ({ broken: 'parse', throws: 'threw', slow: 'timeout', answers: 'answer' } as const)[code.source] ?? code.source,
      )
    },
    async validateValues(code, at) {
      seen.push(`values ${at.property} ${at.elements.map(textOf).join()} ${at.asList ? 'as list' : 'alone'}`)
      return outcome(code, validators[code.source]?.(at) ?? 'parse')
    },
    async validateItem(code, at) {
      seen.push(`item ${code.source}`)
      expect(isItem(at.element)).to.equal(true)
      return outcome(code, validators[code.source]?.(at) ?? 'parse')
    },
    async uncompiled(code) {
      const { failure } = { failure: undefined, ...outcome(code, code.source === 'broken' ? 'parse' : true) }
      return failure
    },
    includes: async () => ({ value: false }),
    read: async () => [],
    async write(code, at) {
      seen.push(`write ${code.source} ${at.elements.map(textOf).join()} ${at.asList ? 'as list' : 'alone'}`)
      return outcome(code, writers[code.source]?.(at) ?? 'parse')
    },
  }

  before(async () => {
    site = await openHosted(host)
  })
  after(() => site.close())
  beforeEach(() => {
    seen.length = 0
  })

  /** Declares a schema and appends an item; what is inside the item afterwards, or the fault. */
  async function written(declaration: string, values: Fields = {}, markup = instance(THING, values)) {
    await site.put('/model.html', page(declaration))
    await site.put('/list.html', listPage())
    seen.length = 0
    try {
      const answered = await site.append('/list.html', markup)
      const inside = /^<li[^>]*>(.*)<\/li>$/s.exec(answered)?.[1]
      const stored = await site.text('/list.html')
      if (!markup.includes('META')) expect(stored).to.include(`${inside}</li>`)
      return inside
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      expect(await site.text('/list.html')).to.equal(listPage())
      return error
    }
  }
  const onProperty = (slot: string, name: string, more: Fields = {}) =>
    schema(THING, {}, property('p', { ...more, [slot]: { markup: code(slot, name) } }), property('q'))

  /** `422 @validate p: threw`. */
  function told(result: unknown): string {
    if (!(result instanceof Fault)) return `stored ${String(result)}`
    const { status, kind, details } = result
    if (!details.document?.startsWith('<!DOCTYPE')) return `${status} ${kind}`
    const list = readAnswer(details.document, status).violations
    return `${status} ${list.map(each => `${each.check} ${each.property ?? 'item'}: ${each['failure.variant'] ?? 'false'}`).join(' | ')}`
  }

  describe('MOD-70, MOD-72 @write', () => {
    for (const [name, before, expected] of [
      ['lower', meta('p', 'ÆØÅ'), meta('p', 'æøå')],
      ['lower', '<b itemprop="p">ABC <i>D</i></b>', '<b itemprop="p">abc d</b>'],
      ['lower', '<data itemprop="p" value="ABC">X</data>', '<data itemprop="p" value="x">X</data>'],
      ['lower', '<a itemprop="p" href="X:Y">LINK</a>', '<a itemprop="p" href="link">LINK</a>'],
      ['lower', '<time itemprop="p">NOW</time>', '<time itemprop="p">now</time>'],
      ['lower', `${meta('p', 'A')}<i>-</i>${meta('p', 'B')}`, `${meta('p', 'a')}<i>-</i>${meta('p', 'b')}`],
      ['keep', '<META  itemprop=p content=A>', '<META  itemprop=p content=A>'],
      ['change', meta('p', 'a'), meta('p', 'a?')],
      ['twice', `${meta('p', 'a')}<i>-</i>`, `${meta('p', 'a')}${meta('p', 'a again')}<i>-</i>`],
      ['drop', `<i>-</i>${meta('p', 'a')}`, '<i>-</i>'],
      ['element', `<i>-</i>${meta('p', 'a')}`, '<i>-</i><b itemprop="p">new &amp; bold</b>'],
      // What does not compile is skipped (MOD-73).
      ['broken', meta('p', 'a'), meta('p', 'a')],
    ] as const) {
      it(`${name} of ${before}`, async () => {
        const result = await written(onProperty('@write', name), {}, `<li itemscope itemtype="${THING}">${before}</li>`)
        if (name === 'keep') expect(await site.text('/list.html')).to.include(expected)
        else expect(result).to.equal(expected)
      })
    }

    it('runs only where there are values, leaf to root', async () => {
      const level = (type: string, parent: string | undefined, name: string) =>
        schema(type, { parent }, property('p', { '@write': { markup: code('@write', name) } }))
      const chain =
        level(THING, 'x:middle', 'lower') +
        schema('x:middle', { parent: 'x:root' }, property('p')) +
        level('x:root', undefined, 'mark')
      expect(await written(chain)).to.equal('')
      expect(seen).to.deep.equal([])
      expect(await written(chain, { p: 'AB' })).to.equal(meta('p', 'ab!'))
      expect(seen).to.deep.equal(['write lower AB alone', 'write mark ab alone'])
    })

    it('the result is what is validated and stored', async () => {
      const declaration =
        onProperty('@write', 'lower', { type: 'x:letters', unique: 'true' }) + enumeration('x:letters', 'a', 'b')
      expect(await written(declaration, { p: 'A' })).to.equal(meta('p', 'a'))
      await site.append('/list.html', instance(THING, { p: 'B' }))
      const taken = await site.append('/list.html', instance(THING, { p: 'a' })).catch((error: unknown) => error)
      expect(taken).to.be.instanceOf(Fault).and.to.include({ status: 422, kind: 'ConstraintViolation' })
    })

    it('MOD-65 several values, or a cardinality that says so, are a list', async () => {
      await written(onProperty('@write', 'keep'), { p: 'a' })
      await written(onProperty('@write', 'keep', { cardinality: '0..n' }), { p: 'a' })
      await written(onProperty('@write', 'keep', { cardinality: '1..1' }), { p: ['a'] })
      await written(onProperty('@write', 'keep'), { p: ['a', 'b'] })
      expect(seen).to.deep.equal(['write keep a,b as list'])
    })

    it('a default goes through it, too (MOD-112)', async () => {
      expect(await written(onProperty('@write', 'lower', { default: 'ABC' }))).to.equal(meta('p', 'abc'))
    })

    it('every item of a whole document goes through it', async () => {
      await site.put('/model.html', page(onProperty('@write', 'lower')))
      await site.put('/many.html', listPage(instance(THING, { p: 'A' }), '<li>x', instance(THING, { p: ['B', 'C'] })))
      expect(await site.text('/many.html')).to.equal(
        listPage(instance(THING, { p: 'a' }), '<li>x', instance(THING, { p: ['b', 'c'] })),
      )
    })

    it('MOD-73 an error is 500, and nothing is stored', async () => {
      const result = await written(onProperty('@write', 'throws'), { p: 'a' })
      expect(told(result)).to.equal('500 @write p: threw')
    })
  })

  describe('MOD-65, MOD-66 @validate', () => {
    for (const [name, expected] of [
      ['yes', `stored ${meta('p', 'a')}`],
      ['no', '422 @validate p: false'],
      ['throws', '422 @validate p: threw'],
      ['broken', '422 @validate p: parse'],
    ] as const) {
      it(`of a property: ${name}`, async () =>
        expect(told(await written(onProperty('@validate', name), { p: 'a' }))).to.equal(expected))
      it(`of the item: ${name}`, async () => {
        const declaration = schema(THING, { '@validate': { markup: code('@validate', name) } }, property('p'))
        const result = told(await written(declaration, { p: 'a' }))
        expect(result).to.equal(expected.replace('@validate p', '@validate item'))
      })
    }

    it('is not asked about properties without value', async () => {
      expect(told(await written(onProperty('@validate', 'no')))).to.equal('stored ')
    })

    it('of a property without value refuses if it does not compile, and asks once if it does', async () => {
      const broken = { '@validate': { markup: code('@validate', 'broken') } }
      expect(told(await written(onProperty('@validate', 'broken')))).to.equal('422 @validate p: parse')
      const both = schema(THING, {}, property('p', broken), property('q', broken), property('r'))
      const failures = '422 @validate p: parse | @validate q: parse'
      expect(told(await written(both, { p: 'a' }))).to.equal(failures)
      expect(told(await written(both, { r: 'a' }))).to.equal(failures)
    })

    it('the most derived one of a property; all of the item, root first, and all failures in one answer', async () => {
      const level = (type: string, parent: string | undefined, own: string, item: string) =>
        schema(
          type,
          { parent, '@validate': { markup: code('@validate', item) } },
          property('p', { '@validate': { markup: code('@validate', own) } }),
        )
      const chain = level(THING, 'x:root', 'yes', 'no') + level('x:root', undefined, 'no', 'throws')
      expect(told(await written(chain, { p: 'a' }))).to.equal('422 @validate item: threw | @validate item: false')
      expect(seen).to.deep.equal(['values p a alone', 'item throws', 'item no'])
    })

    it('sees defaults and the results of resolvers of all items', async () => {
      const declaration = schema(
        THING,
        { '@validate': { markup: code('@validate', 'seesDefault') } },
        property('state', { default: 'RAW', '@write': { markup: code('@write', 'lower') } }),
      )
      expect(told(await written(declaration))).to.equal(`stored ${meta('state', 'raw')}`)
    })

    it('MOD-112 comes after types, before groups', async () => {
      const declaration = onProperty('@validate', 'no', { type: primitive('Integer') })
      expect(told(await written(declaration, { p: 'x' }))).to.equal('422 type p: false')
      expect(seen).to.deep.equal([])
    })

    it('MOD-132 the answer carries the failure', async () => {
      const result = await written(onProperty('@validate', 'throws'), { p: 'a' })
      if (!(result instanceof Fault)) throw new Error('stored')
      expect(readAnswer(result.details.document ?? '', 422).violations).to.deep.equal([
        {
          check: '@validate',
          itemtype: THING,
          property: 'p',
          message: `[${THING}].p: the validator failed: it threw`,
          'failure.language': JAVASCRIPT,
          'failure.variant': 'threw',
          'failure.message': 'it threw',
        },
      ])
    })
  })

  describe('MOD-32, MOD-33 default', () => {
    for (const [name, expected] of [
      ['made', `stored ${meta('p', 'made')}`],
      ['element', 'stored <b itemprop="p">made</b>'],
      ['nothing', 'stored '],
      ['throws', '422 default p: threw'],
      ['broken', '422 default p: parse'],
    ] as const) {
      it(name, async () => {
        expect(told(await written(onProperty('default', name)))).to.equal(expected)
        expect(seen).to.deep.equal(['default p of p,q in /list.html'])
      })
    }
  })

  describe('MOD-67 code that answers', () => {
    for (const slot of ['default', '@write', '@validate']) {
      it(`in ${slot}`, async () => {
        const result = await written(onProperty(slot, 'answers'), slot === 'default' ? {} : { p: 'a' })
        if (!(result instanceof Fault)) throw new Error('stored')
        expect(result.status).to.equal(418)
        expect(result.details).to.include({ document: 'short and stout' })
        expect(result.details.headers).to.deep.equal({ 'Content-Type': 'text/plain' })
      })
    }
  })

  describe('HTTP-172 a budget that is spent', () => {
    for (const slot of ['default', '@write', '@validate']) {
      it(`in ${slot}: 503`, async () => {
        const result = await written(onProperty(slot, 'slow'), slot === 'default' ? {} : { p: 'a' })
        expect(told(result)).to.equal('503 BudgetExceeded')
        const failure = { language: JAVASCRIPT, variant: 'timeout', message: 'it timeout' }
        expect(result instanceof Fault && result.details.failure, 'MOD-133').to.deep.equal(failure)
      })
    }
  })

  it('MOD-74 the site is as committed while code runs, and the code sees what is proposed', async () => {
    const read: string[] = []
    const listening = await openHosted({
      ...host,
      async validateValues(_, { element, path }) {
        const committed = await listening.text(path)
        read.push(`${textOfItem(element).includes('new')} ${committed.includes('new')}`)
        return { value: true }
      },
    })
    try {
      await listening.put('/list.html', listPage())
      await listening.put('/model.html', page(onProperty('@validate', 'yes')))
      await listening.append('/list.html', instance(THING, { p: 'new' }))
      expect(read).to.deep.equal(['true false'])
    } finally {
      await listening.close()
    }
  })

  it('MOD-15 a property is a list to code where it spells that out, though it holds one value', async () => {
    for (const [cardinality, form] of [
      ['0..n', 'as list'],
      ['1..n', 'as list'],
      ['0..1', 'alone'],
      ['1..1', 'alone'],
      ['odd', 'alone'],
      [undefined, 'alone'],
    ] as const) {
      await written(onProperty('@validate', 'yes', { cardinality }), { p: 'x' })
      expect(seen, cardinality).to.deep.equal([`values p x ${form}`])
    }
  })

  it('MOD-7 the type of the item tells the language', async () => {
    const found: string[] = []
    const listening = await openHosted({
      ...host,
      async validateValues({ type, source }) {
        found.push(`${type} ${source}`)
        return { value: true }
      },
    })
    try {
      const declared = [
        code('@validate', 'a &lt; b', JAVASCRIPT),
        code('@validate', 'c', LAMBDA),
        '<script type="text/sessel" itemprop="@validate">d & e</script>',
        '<script type="module" itemprop="@validate">not code in a slot</script>',
        code('@validate', 'f', 'x:y'),
      ]
      for (const markup of declared) {
        await listening.put('/model.html', page(schema(THING, {}, property('p', { '@validate': { markup } }))))
        await listening.put('/list.html', listPage())
        await listening.append('/list.html', instance(THING, { p: 'x' }))
      }
      expect(found).to.deep.equal([`${JAVASCRIPT} a &lt; b`, `${LAMBDA} c`, ' d & e', 'x:y f'])
    } finally {
      await listening.close()
    }
  })
})
