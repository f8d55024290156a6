// biome-ignore-all lint/suspicious/noTemplateCurlyInString: rules look things up this way
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { listen } from '../../pipeline/events/stream-client.ts'
import { page, put, putAll, rulesPage } from '../../support/content.ts'
import { type Browser, newBrowser } from './browser.ts'
import { type StubSite, startStubSite } from './stub-site.ts'

const PATH = '/list.html'

describe('what a session is for', () => {
  let site: StubSite

  before(async () => {
    site = await startStubSite()
    await putAll(site.server, {
      [PATH]: page('<ul id="l"></ul>'),
      '/rules.html': rulesPage(['*', 'GET|POST', 'Allow', PATH], ['alice', 'GET', 'Deny', '/none.html']),
    })
  })
  after(() => site.close())

  const cookieOf = (browser: Browser) => `platform_session=${browser.cookie('localhost', 'platform_session')}`
  const append = async (browser: Browser, text: string) => {
    const { status } = await browser.send('POST', site.url(PATH), { Range: 'selector=#l' }, `<li>${text}</li>`)
    expect(status).to.equal(206)
  }
  async function anonymous(): Promise<Browser> {
    const browser = newBrowser()
    await browser.get(site.url(PATH))
    return browser
  }

  for (const [name, newVisitor] of [
    ['signed-in', () => site.as({ sub: 'alice' })],
    ['anonymous', anonymous],
  ] as const) {
    it(`SSN-9 it keys the suppression of echoes, for ${name} visitors: their own writes do not come back`, async () => {
      const [mine, other] = [await newVisitor(), await newVisitor()]
      const stream = await listen({ port: site.server.port }, PATH, { Cookie: cookieOf(mine) })
      await append(mine, 'of my own')
      await append(other, 'of somebody else')
      await stream.until(() => stream.mutations.length > 0)
      expect(stream.mutations.map(({ data }) => data).join())
        .to.include('of somebody else')
        .and.not.include('of my own')
      stream.close()
    })
  }

  it('SSN-9 SSN-6 not the principal: two sessions of one person see what the other does', async () => {
    const [one, two] = [await site.as({ sub: 'alice' }), await site.as({ sub: 'alice' })]
    const stream = await listen({ port: site.server.port }, PATH, { Cookie: cookieOf(one) })
    await append(two, 'from my telephone')
    await stream.until(() => stream.mutations.length > 0)
    stream.close()
  })
})

describe('SEC-1 what a client sends acts as nothing but itself inside a rule', () => {
  let site: StubSite

  before(async () => {
    site = await startStubSite({ defaultGet: 'deny' })
    await put(
      site.server,
      '/rules.html',
      rulesPage(
        ['*', 'PUT', 'Allow', '/q/${request.query.area}/x.txt'],
        ['*', 'PUT', 'Allow', '/h/${request.headers.x-area}/x.txt'],
        ['${request.headers.x-actor}', 'PUT', 'Allow', '/a/x.txt'],
        ['users', 'PUT', 'Allow', '/u/${request.auth.name}/x.txt'],
        ['*', 'PUT', 'Allow', '/s.html', '[title="${request.headers.x-title}"]'],
      ),
    )
    await put(site.server, '/s.html', page('<p title="a">a</p>'))
  })
  after(() => site.close())

  const write = async (path: string, headers: Record<string, string> = {}, browser = newBrowser()) =>
    (await browser.send('PUT', site.url(path), headers, '<p title="a">x</p>')).status

  const patterns = ['*', '**', '?ecret', '[s]ecret', '{secret,x}', 'secre\\t', '', '/', '*/']
  for (const pattern of patterns) {
    it(`no pattern: ${JSON.stringify(pattern)}`, async () => {
      const area = encodeURIComponent(pattern)
      expect(await write(`/q/secret/x.txt?area=${area}`), 'query').to.equal(401)
      if (pattern !== '') expect(await write('/h/secret/x.txt', { 'X-Area': pattern }), 'header').to.equal(401)
      expect(await write('/u/secret/x.txt', {}, await site.as({ sub: 'x', name: pattern })), 'claim').to.equal(403)
    })
  }

  it('no actor', async () => {
    for (const actor of ['*', 'users', 'authenticated', 'role:x', ':username', '${username}'])
      expect(await write('/a/x.txt', { 'X-Actor': actor }), actor).to.equal(401)
    const alice = await site.as({ sub: 'alice' })
    for (const actor of ['*', 'users', 'authenticated', ':username'])
      expect(await write('/a/x.txt', { 'X-Actor': actor }, alice), actor).to.equal(403)
    expect(await write('/a/x.txt', { 'X-Actor': 'alice' }, alice), 'the name itself').to.equal(201)
  })

  it('no selector', async () => {
    const range = { Range: 'selector=p' }
    for (const title of ['x"], p, [title="', '"], *', 'a\\', "'", 'A', ''])
      expect(await write('/s.html', { ...range, 'X-Title': title }), title).to.equal(401)
    expect(await write('/s.html', { ...range, 'X-Title': 'a' }), 'the value itself').to.equal(206)
  })
})
