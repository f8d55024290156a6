import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { noCode } from '../../../pipeline/model/code.ts'
import { done } from '../../../pipeline/tree/steps.ts'
import { rederived, savedDocument, writtenDocuments } from '../../../pipeline/write/new-version.ts'
import { NS, page, ruleMarkup } from '../../support/content.ts'
import { type HostedSite, openHosted } from '../model/hosted.ts'
import { instance, schema } from '../model/markup.ts'

const ITEM = page(instance('x:Rule', { actor: '*', method: 'PUT', resource: '/a', action: 'Allow' }))
const RULE = page(ruleMarkup(['*', 'PUT', 'Allow', '/a']))

describe('A document that is saved as a whole', () => {
  let hosted: HostedSite
  beforeEach(async () => {
    hosted = await openHosted(noCode)
  })
  afterEach(() => hosted.close())

  const saved = (text: string, isLookedInto = false) =>
    savedDocument(hosted.site, 'html', 'text/html', Buffer.from(text), isLookedInto)

  const cases: [what: string, text: string, isLookedInto: boolean, hasTree: boolean][] = [
    ['without items', page('<p>nothing</p>'), true, false],
    ['with items that declare nothing', ITEM, false, false],
    ['whose tree is wanted', ITEM, true, true],
    ['that declares something', RULE, false, true],
    ['that is long', ITEM.replace('</body>', `<p>${'x'.repeat(65536)}</p></body>`), false, true],
  ]
  for (const [what, text, isLookedInto, hasTree] of cases)
    it(`waits for its commit ${hasTree ? 'with' : 'without'} a tree: one ${what}`, async () => {
      expect((await saved(text, isLookedInto)).tree !== undefined).to.equal(hasTree)
    })

  it('RULE-12 is read again by schemas that came while it was on its way', async () => {
    const version = await saved(ITEM)
    expect(version.derived?.declares).to.deep.equal({})
    await hosted.put('/model.html', page(schema('x:Rule', { parent: `${NS}/AuthorizationRule` })))
    expect((await rederived(hosted.site, version)).derived?.declares.access?.rules).to.have.length(1)
  })

  it('RULE-12 shows what it holds to those who read it by other types', async () => {
    const [written] = writtenDocuments('/a.html', await saved(ITEM))
    expect(await written?.show?.(({ source }) => done(source))).to.equal(ITEM)
    const [plain] = writtenDocuments('/b.html', await saved(page('nothing')))
    expect(plain).to.not.have.property('show')
  })
})
