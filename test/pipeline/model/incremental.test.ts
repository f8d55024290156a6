import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { noCode } from '../../../pipeline/model/code.ts'
import type { SiteStore, Store } from '../../../pipeline/store/store.ts'
import { page } from '../../support/content.ts'
import { openTemporary } from '../store/fixture.ts'
import { type HostedSite, openHosted } from './hosted.ts'
import { instance, property, schema, shape } from './markup.ts'
import { listPage } from './shelf.ts'

const THING = 'https://tides.example/Thing'
const DOCUMENTS = 200

describe('Data model, what a change of declarations reads', () => {
  let store: Store
  let close: () => Promise<void>
  let hosted: HostedSite
  const calls: string[] = []

  /** Notes every question to the store with what it is about. */
  function noting(inner: SiteStore): SiteStore {
    return new Proxy(inner, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        return (...rest: unknown[]) => {
          const [about] = rest
          const path = typeof about === 'object' && about && 'path' in about ? about.path : about
          if (name !== 'commit') calls.push(`${String(name)} ${typeof path === 'string' ? path : ''}`.trim())
          return Reflect.apply(member, target, rest)
        }
      },
    })
  }

  before(async () => {
    const opened = await openTemporary()
    store = opened.store
    close = () => opened.close()
    const noted = { ...store, site: (name: string) => noting(store.site(name)) }
    hosted = await openHosted(noCode, { store: noted, name: 'read.example' })
    await hosted.put('/model.html', page(schema(THING, {}, property('p', { unique: 'true' }))))
    await hosted.put('/other-model.html', page(schema('x:y', {}, property('p'))))
    for (let i = 0; i < DOCUMENTS; i++) await hosted.put(`/items/${i}.html`, listPage(instance(THING, { p: `v${i}` })))
  })
  after(() => close())
  beforeEach(() => {
    calls.length = 0
  })

  /** Paths that were asked for, and questions about the whole site. */
  function asked(): string[] {
    return [...new Set(calls.filter(call => !/^(counters|lookup)/.test(call)).map(call => call.split(' ')[1] ?? call))]
  }

  const CHANGES: [name: string, ...string[]][] = [
    [
      'a schema that everything is governed by',
      schema(THING, {}, property('p', { unique: 'true', cardinality: '1..1' })),
    ],
    ['another parent', schema(THING, { parent: 'x:y' }, property('p', { unique: 'true' }))],
    ['a shape for every page', schema(THING), shape({ selector: 'ul', constraint: ':has(li)' })],
    ['nothing any more'],
    ['a schema again', schema(THING, {}, property('p', { unique: 'true' }))],
  ]
  for (const [name, ...declarations] of CHANGES)
    it(`its own document alone, of ${DOCUMENTS}: ${name}`, async () => {
      await hosted.put('/model.html', page(declarations.join('')))
      expect(asked().filter(path => path !== '/model.html')).to.deep.equal([])
    })

  it('and the write after it its own document and the index', async () => {
    await hosted.put('/model.html', page(schema(THING, {}, property('p', { unique: 'true', cardinality: '0..1' }))))
    calls.length = 0
    await hosted.put('/items/new.html', listPage(instance(THING, { p: 'new' })))
    expect(asked()).to.include('/items/new.html')
    expect(asked().filter(path => !['/items/new.html', '/items/', '/'].includes(path))).to.deep.equal([])
  })

  it('another process follows by what that document declares', async () => {
    const other = await openHosted(noCode, {
      store: { ...store, site: (name: string) => noting(store.site(name)) },
      name: 'read.example',
    })
    await hosted.put('/model.html', page(schema(THING, {}, property('q'))))
    const { version } = (await store.site('read.example').find('/model.html')) ?? { version: 0 }
    calls.length = 0
    await other.site.follow([{ version, paths: ['/model.html'], raised: ['model'] }])
    expect([...(other.site.model.schema(THING)?.properties.keys() ?? [])]).to.deep.equal(['q'])
    expect(asked()).to.deep.equal(['/model.html'])
  })
})
