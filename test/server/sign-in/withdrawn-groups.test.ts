import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { composed } from '../../pipeline/compose/composing.ts'
import { instance } from '../../pipeline/model/markup.ts'
import { NS, page, put, putAll, ruleMarkup } from '../../support/content.ts'
import { newBrowser } from './browser.ts'
import { type SignInSite, startSignInSite } from './fixture.ts'

const RULE = ruleMarkup(['*', 'GET', 'Allow', '/*'])

describe('Whoever is taken out of a group', () => {
  let site: SignInSite
  before(async () => {
    site = await startSignInSite({ site: { defaultGet: 'deny' } })
  })
  after(() => site.close())

  it('GRP-2 RULE-11 COMP-4 is shown nothing for it that was written since', async () => {
    const { server } = site
    const template = `{% if request.auth.roles contains "staff" %}{{ told.first }}{% endif %}`
    const binding = 'r:told="#part" p:template="text/liquid"'
    await putAll(server, {
      '/rules.html': page(RULE + instance(`${NS}/Group`, { name: 'staff', member: 'alice@example.com' })),
      '/part.html': page('<i id="part">for staff</i>'),
      '/page.html': composed(`<main ${binding}>${template}</main>`),
    })
    const browser = newBrowser()
    await site.signIn(browser, 'alice')
    const read = () => browser.get(site.url('/page.html'), { Range: 'selector=main' })
    expect((await read()).text).to.equal('<main>for staff</main>')
    const { inMemory, find } = server.site
    let changed = false
    server.site.inMemory = path => (path === '/part.html' && !changed ? undefined : inMemory.call(server.site, path))
    server.site.find = async path => {
      if (path === '/part.html' && !changed) {
        changed = true
        await put(server, '/rules.html', page(RULE))
        await put(server, '/part.html', page('<i id="part">SECRET</i>'))
      }
      return find.call(server.site, path)
    }
    const { status, text } = await read()
    Object.assign(server.site, { inMemory, find })
    expect([changed, status, text]).to.deep.equal([true, 206, '<main></main>'])
  })
})
