import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { outdated } from '../../../pipeline/declarations/rederive.ts'
import { SiteDeclarations } from '../../../pipeline/declarations/site-declarations.ts'
import { noCode } from '../../../pipeline/model/code.ts'
import { NS, page, ruleMarkup } from '../../support/content.ts'
import { type HostedSite, openHosted } from '../model/hosted.ts'
import { instance, SCHEMA_HOST, schema } from '../model/markup.ts'

const SETTINGS = { ns: NS, schemaHost: SCHEMA_HOST }
const COMMON = `3 ${NS} ${SCHEMA_HOST}`
const FIRST = `${COMMON} model/1 access/1`
const CURRENT = `${FIRST} reactions/1`

describe('What stored declarations were derived by', () => {
  const cases: [what: string, stored: string | undefined, all: boolean, kinds: string[], basis: string | undefined][] =
    [
      ['a new site', undefined, true, [], CURRENT],
      ['this release', CURRENT, false, [], undefined],
      ['a release without a list of kinds', COMMON, false, ['reactions'], CURRENT],
      ['a release without reactions', FIRST, false, ['reactions'], CURRENT],
      ['a release without rules', `${COMMON} model/1 reactions/1`, false, ['access'], CURRENT],
      ['another form of rules', `${COMMON} model/1 access/0 reactions/1`, false, ['access'], CURRENT],
      ['a newer release', `${CURRENT} later/3`, false, [], undefined],
      [
        'a newer release without rules',
        `${COMMON} model/1 reactions/1 later/3`,
        false,
        ['access'],
        `${CURRENT} later/3`,
      ],
      ['another form of all data', `1 ${NS} ${SCHEMA_HOST} model/1 access/1`, true, [], CURRENT],
      ['another vocabulary', `3 ${NS}/2 ${SCHEMA_HOST} model/1 access/1`, true, [], CURRENT],
      ['a vocabulary that begins alike', `3 ${NS} ${SCHEMA_HOST}/2`, true, [], CURRENT],
    ]
  for (const [what, stored, all, kinds, basis] of cases)
    it(`RULE-11 ${what}`, () => {
      const found = outdated(stored, SETTINGS)
      expect({ ...found, kinds: [...found.kinds] }).to.deep.equal({ all, kinds, basis })
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
    const { declarations, written } = await read(`${COMMON} model/1 reactions/1`)
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
    const { declarations } = await read(`${COMMON} model/1 reactions/1`)
    expect(declarations.snapshot('access').document('/rules.html')?.rules).to.have.length(1)
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
