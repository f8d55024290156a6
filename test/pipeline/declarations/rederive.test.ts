import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { outdated } from '../../../pipeline/declarations/rederive.ts'
import { SiteDeclarations } from '../../../pipeline/declarations/site-declarations.ts'
import { siteFindings } from '../../../pipeline/findings.ts'
import { noCode } from '../../../pipeline/model/code.ts'
import { OUTDATED } from '../../../pipeline/store/derivation.ts'
import { NS, page, ruleMarkup } from '../../support/content.ts'
import { type HostedSite, openHosted } from '../model/hosted.ts'
import { instance, SCHEMA_HOST, schema } from '../model/markup.ts'
import { reaction } from '../react/site.ts'

const SETTINGS = { ns: NS, schemaHost: SCHEMA_HOST }
const COMMON = `3 ${NS} ${SCHEMA_HOST}`
const FIRST = `${COMMON} model/1 access/1`
const CURRENT = `${FIRST} reactions/2`

describe('What stored declarations were derived by', () => {
  const cases: [what: string, stored: string | undefined, all: boolean, kinds: string[], basis: string | undefined][] =
    [
      ['a new site', undefined, true, [], CURRENT],
      ['this release', CURRENT, false, [], undefined],
      ['a release without a list of kinds', COMMON, false, ['reactions'], CURRENT],
      ['a release without reactions', FIRST, false, ['reactions'], CURRENT],
      ['another form of reactions', `${FIRST} reactions/1`, false, ['reactions'], CURRENT],
      ['a release without rules', `${COMMON} model/1 reactions/2`, false, ['access'], CURRENT],
      ['another form of rules', `${COMMON} model/1 access/0 reactions/2`, false, ['access'], CURRENT],
      ['a newer release', `${CURRENT} later/3`, false, [], undefined],
      [
        'a newer release without rules',
        `${COMMON} model/1 reactions/2 later/3`,
        false,
        ['access'],
        `${CURRENT} later/3`,
      ],
      ['another form of all data', `1 ${NS} ${SCHEMA_HOST} model/1 access/1`, true, [], CURRENT],
      ['what is no basis', 'x', true, [], CURRENT],
    ]
  for (const [what, stored, all, kinds, basis] of cases)
    it(`RULE-11 ${what}`, () => {
      const found = outdated(stored, SETTINGS)
      expect({ ...found, kinds: [...found.kinds] }).to.deep.equal({ all, kinds, basis })
    })
})

describe('What a change of the vocabulary has read again', () => {
  const other = { ns: `${NS}/2`, schemaHost: SCHEMA_HOST }
  const cases: [what: string, stored: string, before: object, kinds: string[]][] = [
    ['the base of the namespaces', `3 ${NS}/2 ${SCHEMA_HOST} model/1 access/1 reactions/2`, other, []],
    ['one that begins alike', `3 ${NS}/2 ${SCHEMA_HOST}`, other, ['reactions']],
    [
      'the host of schemas',
      `3 ${NS} ${SCHEMA_HOST}/2 model/1 access/1 reactions/2`,
      { ns: NS, schemaHost: `${SCHEMA_HOST}/2` },
      [],
    ],
  ]
  for (const [what, stored, before, kinds] of cases)
    it(`RULE-11 ${what}: the documents that have its types`, () => {
      const found = outdated(stored, SETTINGS)
      expect({ ...found, kinds: [...found.kinds] }).to.deep.equal({ all: false, before, kinds, basis: CURRENT })
    })

  const marks: [what: string, basis: string, after: object][] = [
    ['goes on', CURRENT, { after: '/x' }],
    ['begins anew for another basis', FIRST, {}],
  ]
  for (const [what, basis, after] of marks)
    it(`RULE-11 everything, interrupted, ${what}`, () => {
      const found = outdated(JSON.stringify({ after: '/x', basis }), SETTINGS)
      expect({ ...found, kinds: [...found.kinds] }).to.deep.equal({ all: true, ...after, kinds: [], basis: CURRENT })
    })

  it('RULE-11 reads none but those documents, and finds what the new names declare', async () => {
    const hosted = await openHosted(noCode)
    try {
      const rule = page(ruleMarkup(['*', 'PUT', 'Allow', '/a']))
      await hosted.put('/rules.html', rule)
      await hosted.put('/renamed.html', rule.replaceAll(NS, `${NS}/2`))
      await hosted.put('/own.html', page('<p itemscope itemtype="https://example.org/Own">of the site</p>'))
      for (let i = 0; i < 30; i++) await hosted.put(`/p${i}.html`, page('plain'))
      const { store, settings } = hosted.site
      const read: string[] = []
      const { body } = store
      store.body = async resource => {
        read.push(resource.path)
        return body.call(store, resource)
      }
      const basis = { read: async () => CURRENT, write: async () => undefined }
      const renamed = { ...settings, ns: `${NS}/2` }
      const declared = await SiteDeclarations.read({ store, settings: renamed, basis, report: () => undefined })
      expect(declared.snapshot('access').documentsUnder('/')).to.deep.equal(['/renamed.html'])
      expect(read.sort()).to.deep.equal(['/renamed.html', '/rules.html'])
    } finally {
      await hosted.close()
    }
  })
})

describe('A site whose documents have to be read again, all of them', () => {
  it('RULE-11 is none that was filled by the process that opened it first', async () => {
    const hosted = await openHosted(noCode)
    try {
      await hosted.put('/a.html', page('a'))
      await hosted.reopen()
      expect(hosted.reports).to.deep.equal([])
    } finally {
      await hosted.close()
    }
  })

  it('RULE-11 goes on where it was interrupted, and tells of it in two lines', async () => {
    const hosted = await openHosted(noCode)
    try {
      const { store, settings } = hosted.site
      const document = (i: number) => ({
        op: 'put' as const,
        path: `/d${String(i).padStart(5, '0')}.html`,
        kind: 'document' as const,
        content: { bytes: Buffer.from(page('plain')) },
        type: 'text/html',
      })
      for (let from = 0; from < 2000; from += 500)
        await store.commit({ changes: Array.from({ length: 500 }, (_, i) => document(from + i)) })
      let stored: string | undefined
      const basis = {
        read: async () => stored,
        write: async (text: string) => {
          stored = text
        },
      }
      const lines: string[] = []
      const report = (message: string) => lines.push(message)
      let left = 1500
      let read = 0
      const { body } = store
      store.body = async resource => {
        read++
        if (--left < 0) throw new Error('the process ends here')
        return body.call(store, resource)
      }
      const open = () => SiteDeclarations.read({ store, settings, basis, report })
      expect(await open().catch((error: Error) => error.message)).to.equal('the process ends here')
      expect(lines.splice(0)).to.have.length(1)
      left = Number.POSITIVE_INFINITY
      read = 0
      await open()
      expect(read).to.equal(2000 - 1024)
      expect(stored).to.equal(CURRENT)
      expect(lines).to.have.length(2)
      for (const i of [0, 1023, 1024, 1999])
        expect(await store.derived(document(i).path, 'profile'), String(i)).to.be.a('string')
    } finally {
      await hosted.close()
    }
  })
})

describe('Large documents that have to be read again', () => {
  const whys: [why: string, basis: string | undefined, derived: Record<string, string>][] = [
    ['with all others', undefined, {}],
    ['as they are noted', CURRENT, { profile: '{"utf8":true}', [OUTDATED]: '1' }],
  ]
  for (const [why, stored, derived] of whys)
    it(`SEC-12 RULE-11 ${why} are written before many more are read`, async () => {
      const hosted = await openHosted(noCode)
      try {
        const { store, settings } = hosted.site
        const bytes = Buffer.from(page(`<!--${'x'.repeat(2_100_000)}-->`))
        const document = { op: 'put', kind: 'document', content: { bytes }, type: 'text/html', derived } as const
        await store.commit({ changes: Array.from({ length: 3 }, (_, i) => ({ ...document, path: `/${i}.html` })) })
        let [unwritten, most, written] = [0, 0, 0]
        const { body, derive } = store
        store.body = async resource => {
          most = Math.max(most, ++unwritten)
          return body.call(store, resource)
        }
        store.derive = async (...given) => {
          unwritten--
          written++
          return derive.apply(store, given)
        }
        const basis = { read: async () => stored, write: async () => undefined }
        await SiteDeclarations.read({ store, settings, basis, report: () => undefined })
        expect({ most, written }).to.deep.equal({ most: 2, written: 3 })
        // What never had items is told of none.
        expect(await store.derived('/0.html', 'items')).to.equal(undefined)
      } finally {
        await hosted.close()
      }
    })
})

describe('Many documents that are noted to be read again', () => {
  for (const count of [63, 64])
    it(`RULE-11 are told of from 64 on: ${count}`, async () => {
      const hosted = await openHosted(noCode)
      try {
        const { store, settings } = hosted.site
        const derived = { profile: '{"utf8":true}', [OUTDATED]: '1' }
        const content = { bytes: Buffer.from('<p>') }
        const document = { op: 'put', kind: 'document', content, type: 'text/html', derived } as const
        await store.commit({ changes: Array.from({ length: count }, (_, i) => ({ ...document, path: `/${i}.html` })) })
        const told: unknown[] = []
        const report = (message: string, details: object) => told.push({ message, ...details })
        const basis = { read: async () => CURRENT, write: async () => undefined }
        await SiteDeclarations.read({ store, settings, basis, report })
        const message = 'Reading documents again that another release has stored'
        expect(told).to.deep.equal(count === 64 ? [{ message, documents: 64 }] : [])
        expect(await store.derived('/62.html', 'tokens')).to.equal('["html","head","body","p"]')
      } finally {
        await hosted.close()
      }
    })
})

describe('Documents that are read again for minutes', () => {
  const reading = (documents: number) => ({ message: 'Reading documents again', documents })
  const message = 'Reading all documents again, to know what they hold and declare'
  const whys: [why: string, basis: string | undefined, derived: Record<string, string>, told: object[]][] = [
    [
      'all',
      undefined,
      {},
      [
        { message, after: undefined },
        ...[1, 2, 3].map(reading),
        { message: 'All documents were read again', documents: 3 },
      ],
    ],
    ['as they are noted', CURRENT, { profile: '{"utf8":true}', [OUTDATED]: '1' }, [1, 2].map(reading)],
  ]
  for (const [why, stored, derived, expected] of whys)
    it(`RULE-11 are told of every minute: ${why}`, async () => {
      const hosted = await openHosted(noCode)
      const { now } = Date
      try {
        const { store, settings } = hosted.site
        const content = { bytes: Buffer.from('<p>') }
        const document = { op: 'put', kind: 'document', content, type: 'text/html', derived } as const
        await store.commit({ changes: [0, 1, 2].map(i => ({ ...document, path: `/${i}.html` })) })
        const { body } = store
        let minutes = 0
        Date.now = () => now() + minutes * 60_000
        store.body = async resource => {
          minutes++
          return body.call(store, resource)
        }
        const told: unknown[] = []
        const report = (said: string, details: object) => told.push({ message: said, ...details })
        const basis = { read: async () => stored, write: async () => undefined }
        await SiteDeclarations.read({ store, settings, basis, report })
        expect(told).to.deep.equal(expected)
      } finally {
        Date.now = now
        await hosted.close()
      }
    })
})

describe('What fields of declarations do not say', () => {
  it('RULE-13 MOD-8 is no part of what is stored, and is told of what another process or release has stored', async () => {
    const hosted = await openHosted(noCode)
    try {
      const rule = ruleMarkup(['*', 'PUT', 'Allow', '/a'])
      const strange = rule.replace('</div>', '<meta itemprop="selectors" content="#a"></div>')
      await hosted.put('/plain.html', page(rule))
      await hosted.put('/strange.html', page(strange))
      await hosted.put('/bare.html', page(`<p itemtype="${NS}/Trigger">`))
      await hosted.put('/shown.html', page(`<template><p itemtype="${NS}/Trigger"></template>`))
      const { store } = hosted.site
      for (const name of ['access', 'profile', 'items'])
        expect(await store.derived('/strange.html', name)).to.equal(await store.derived('/plain.html', name))
      const told = [
        `/bare.html: an element of the type ${NS}/Trigger has no itemscope, so that it declares nothing`,
        `/strange.html: item 1 of the type ${NS}/AuthorizationRule: the field selectors says nothing; did you mean selector?`,
      ]
      expect((await siteFindings(hosted.site)).sort()).to.deep.equal(told)
      await hosted.reopen()
      expect((await siteFindings(hosted.site)).sort()).to.deep.equal(told)
      // As often as somebody asks, and within what one question may read.
      expect((await siteFindings(hosted.site, 10_000)).sort()).to.deep.equal(told)
      expect(hosted.reports.map(({ message }) => message)).to.deep.equal([
        'A declaration does not say what it seems to',
      ])
    } finally {
      await hosted.close()
    }
  })
})

describe('A kind of declarations that a site was stored without', () => {
  let hosted: HostedSite
  beforeEach(async () => {
    hosted = await openHosted(noCode)
  })
  afterEach(() => hosted.close())

  /** Takes the rules out of what was derived, as if nobody had known of them. */
  async function withoutRules(...paths: string[]): Promise<void> {
    const { store } = hosted.site
    for (const path of paths) {
      const resource = await store.find(path)
      if (resource) await store.derive(resource, { access: 'null' })
    }
  }

  async function read(stored: string): Promise<{ declarations: SiteDeclarations; written: string[] }> {
    const written: string[] = []
    const basis = { read: async () => stored, write: async (text: string) => void written.push(text) }
    const { store, settings } = hosted.site
    return { declarations: await SiteDeclarations.read({ store, settings, basis, report: () => undefined }), written }
  }

  it('RULE-11 is derived from the stored bytes, once', async () => {
    await hosted.put('/rules.html', page(ruleMarkup(['*', 'PUT', 'Allow', '/a'])))
    await hosted.put('/plain.html', page('nothing'))
    await withoutRules('/rules.html')
    const known = await read(CURRENT)
    expect(known.declarations.snapshot('access').documentsUnder('/')).to.deep.equal([])
    expect(known.written).to.deep.equal([])
    const { declarations, written } = await read(`${COMMON} model/1 reactions/2`)
    expect(declarations.snapshot('access').documentsUnder('/')).to.deep.equal(['/rules.html'])
    expect(written).to.deep.equal([CURRENT])
    expect((await read(CURRENT)).declarations.snapshot('access').documentsUnder('/')).to.deep.equal(['/rules.html'])
  })

  it('RULE-12 is derived by the types of the schemas, too', async () => {
    await hosted.put('/model.html', page(schema('x:Rule', { parent: `${NS}/AuthorizationRule` })))
    await hosted.put(
      '/rules.html',
      page(instance('x:Rule', { actor: '*', method: 'PUT', resource: '/a', action: 'Allow' })),
    )
    await withoutRules('/rules.html')
    const { declarations } = await read(`${COMMON} model/1 reactions/2`)
    expect(declarations.snapshot('access').document('/rules.html')?.rules).to.have.length(1)
  })

  it('SES-4 triggers that the form before left out count, without a save of their document', async () => {
    const bare = (name: string) => `<script itemprop="${name}" type="text/sessel">true</script>`
    await hosted.put('/gate.html', page(reaction('Trigger', { when: bare('when'), action: bare('action') })))
    const { store } = hosted.site
    const resource = await store.find('/gate.html')
    if (!resource) throw new Error('not stored')
    await store.derive(resource, { reactions: 'null' })
    expect((await read(CURRENT)).declarations.snapshot('reactions').documentsUnder('/')).to.deep.equal([])
    const { declarations, written } = await read(`${FIRST} reactions/1`)
    expect(declarations.snapshot('reactions').documentsUnder('/')).to.deep.equal(['/gate.html'])
    expect(declarations.snapshot('reactions').findings('/gate.html')).to.deep.equal([])
    expect(written).to.deep.equal([CURRENT])
  })

  it('RULE-11 loses what older data say of documents that declare nothing', async () => {
    await hosted.put('/plain.html', page('nothing'))
    const { store } = hosted.site
    const resource = await store.find('/plain.html')
    if (!resource) throw new Error('not stored')
    const rule = { position: 0, actor: ['*'], resource: ['/a'], method: ['PUT'], selector: [], action: ['Allow'] }
    await store.derive(resource, { access: JSON.stringify({ ns: NS, rules: [rule], groups: [] }) })
    const { declarations } = await read(`${COMMON} model/1 access/0`)
    expect(declarations.snapshot('access').document('/plain.html')).to.equal(undefined)
  })
})
