/** Credentials that open a part of a site: what is hidden from them changes nothing of what they see (DAV-3, DAV-50). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { StoreError } from '../../../pipeline/store/errors.ts'
import type { Resource } from '../../../pipeline/store/resource.ts'
import { listTag, memberSum, statTag } from '../../../pipeline/store/tags.ts'
import { type Client, client } from '../../support/http.ts'
import { readMultistatus } from '../../support/multistatus.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { answerTag, basic, list, propertyUpdate, propfindBody } from '../wire.ts'

const LOCK =
  '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>'

const credentials = [
  { user: 'all', password: 'p', scope: ['/*'], write: true },
  { user: 'docs', password: 'p', scope: ['/team/docs/*'], write: true },
  { user: 'pages', password: 'p', scope: ['/*.html'], write: true },
  { user: 'two', password: 'p', scope: ['/team/docs/*', '/out/*'], write: true },
]

describe('a part of a site over the wire', () => {
  let server: TestServer
  let all: Client
  let docs: Client
  let pages: Client
  let two: Client
  before(async () => {
    server = await startServer({ site: { credentials } })
    const author = (user: string) => client(Number(new URL(server.mountUrl).port), { Authorization: basic(user, 'p') })
    all = author('all')
    docs = author('docs')
    pages = author('pages')
    two = author('two')
    for (const path of [
      '/team/docs/a.html',
      '/team/docs/deep/b.txt',
      '/team/other/x.txt',
      '/team/other/y.html',
      '/z.txt',
    ])
      await all('PUT', path, {}, '<p>x</p>')
  })
  after(() => server.close())

  /** Tags of everything on the way to `/team/docs/`, at both depths, with the times that are told. */
  async function seen(author: Client): Promise<string[]> {
    const found: string[] = []
    for (const path of ['/', '/team/', '/team/docs/', '/team/docs/deep/'])
      for (const depth of ['0', '1'] as const) {
        const answer = await author('PROPFIND', path, { Depth: depth }, propfindBody('getetag', 'getlastmodified'))
        found.push(`${path} ${answer.headers.etag} ${answer.text}`)
      }
    return found
  }

  const HIDDEN: [name: string, change: () => Promise<unknown>][] = [
    ['a new file', () => all('PUT', '/team/new.txt', {}, 'x')],
    ['a file edited', () => all('PUT', '/z.txt', {}, 'other')],
    ['a file edited deeper down', () => all('PUT', '/team/other/x.txt', {}, 'other')],
    ['a file removed', () => all('DELETE', '/team/new.txt')],
    ['a property', () => all('PROPPATCH', '/z.txt', {}, propertyUpdate(['{urn:x}color', 'red']))],
    ['a work file', () => all('PUT', '/team/~$plan.docx', {}, 'x')],
  ]
  for (const [name, change] of HIDDEN)
    it(`DAV-50 ${name} where a credential sees nothing changes nothing for it`, async () => {
      const before = await Promise.all([seen(docs), seen(pages), seen(all)])
      await change()
      const after = await Promise.all([seen(docs), seen(pages), seen(all)])
      expect(after[0]).to.deep.equal(before[0])
      expect(after[1]).to.deep.equal(before[1])
      expect(after[2]).not.to.deep.equal(before[2])
    })

  it('DAV-50 what a credential sees changes the tags of everything that leads there', async () => {
    const [before, beforePages] = [await seen(docs), await seen(pages)]
    await all('PUT', '/team/docs/a.html', {}, '<p>other</p>')
    for (const [then, now] of [
      [before, await seen(docs)],
      [beforePages, await seen(pages)],
    ] as const)
      expect(now.slice(0, 6).filter((line, i) => line === then[i])).to.deep.equal([])
    const again = await seen(docs)
    await all('PUT', '/team/docs/deep/b.txt', {}, 'other')
    expect((await seen(docs)).filter((line, i) => line === again[i])).to.deep.equal([])
  })

  it('DAV-50 header, own and member tags agree, and revalidate', async () => {
    for (const author of [docs, pages]) {
      const d0 = await answerTag(author, '/team/', '0')
      const d1 = await answerTag(author, '/team/', '1')
      expect((await list(author, '/', '1')).get('/team/')?.get('getetag')?.value).to.equal(d0)
      for (const [Depth, tag] of [
        ['0', d0],
        ['1', d1],
      ] as const) {
        const answer = await author('PROPFIND', '/team/', { Depth })
        expect(readMultistatus(answer.text).get('/team/')?.get('getetag')?.value).to.equal(tag)
        expect((await author('PROPFIND', '/team/', { Depth, 'If-None-Match': tag })).status).to.equal(304)
        const other = await answerTag(all, '/team/', Depth)
        expect((await author('PROPFIND', '/team/', { Depth, 'If-None-Match': other })).status).to.equal(207)
      }
    }
    expect(await answerTag(docs, '/team/docs/', '1'), 'all of it is open').to.equal(
      await answerTag(all, '/team/docs/', '1'),
    )
  })

  it('DAV-52 the sum is that of the members that are seen', async () => {
    const { store } = server.site
    const members = (await store.list('/team/other/')).filter(({ path }) => path.endsWith('.html'))
    const state: Resource = { ...(await store.find('/team/other/')), members: memberSum(members) } as Resource
    expect(await answerTag(pages, '/team/other/', '1')).to.equal(`"${listTag(state)}"`)
    expect(await answerTag(pages, '/team/other/', '0')).to.equal(`"${statTag(state)}"`)
  })

  it('DAV-50 what could not be read once is read again', async () => {
    const { store } = server.site
    const { list } = store
    await all('PUT', '/team/new/page.html', {}, '<p>x</p>')
    store.list = async () => {
      throw new StoreError('busy', 'Another process has it')
    }
    const look = async () => (await pages('PROPFIND', '/team/new/', { Depth: '0' })).status
    const failed = await look()
    store.list = list
    expect([failed, await look()]).to.deep.equal([503, 207])
    await all('DELETE', '/team/new/')
  })

  it('DAV-89 an If header is judged by what the credential sees', async () => {
    const seenTag = await answerTag(docs, '/team/', '0')
    const realTag = await answerTag(all, '/team/', '0')
    const put = (tag: string) => docs('PUT', '/team/docs/if.txt', { If: `</team/> ([${tag}])` }, 'x')
    expect((await put(realTag)).status).to.equal(412)
    expect((await put(seenTag)).status).to.equal(201)
    const hidden = (await all('GET', '/z.txt')).headers.etag
    expect((await docs('PUT', '/team/docs/if.txt', { If: `</z.txt> ([${hidden}])` }, 'x')).status).to.equal(412)
  })

  it('DAV-88 a lock on what is hidden does not show', async () => {
    const before = await seen(docs)
    const { headers } = await all('LOCK', '/team/other/x.txt', {}, LOCK)
    expect(await seen(docs)).to.deep.equal(before)
    await all('UNLOCK', '/team/other/x.txt', { 'Lock-Token': headers['lock-token'] })
  })

  it('DAV-3 DAV-50 properties of a collection that only leads to what is open do not show, and are not copied', async () => {
    const before = await seen(docs)
    const secret = propertyUpdate(['{urn:x}color', 'secret'])
    for (const path of ['/team/', '/team/other/']) await all('PROPPATCH', path, {}, secret)
    expect(await seen(docs)).to.deep.equal(before)
    await all('PROPPATCH', '/team/docs/deep/', {}, secret)
    const names = propfindBody('{urn:x}color')
    for (const body of [names, undefined, '<D:propfind xmlns:D="DAV:"><D:propname/></D:propfind>'])
      for (const [path, Depth] of [
        ['/team/', '0'],
        ['/', '1'],
      ] as const)
        expect((await docs('PROPFIND', path, { Depth }, body)).text).not.to.match(
          /secret|color xmlns[^>]*\/><\/D:prop><D:status>HTTP\/1.1 200/,
        )
    expect((await docs('PROPFIND', '/team/docs/', { Depth: '1' }, names)).text).to.include('secret')
    const report = `<D:sync-collection xmlns:D="DAV:"><D:sync-token/><D:sync-level>1</D:sync-level><D:prop><x:color xmlns:x="urn:x"/></D:prop></D:sync-collection>`
    expect((await docs('REPORT', '/', {}, report)).text).not.to.include('secret')
    expect((await two('COPY', '/team/', { Depth: '0', Destination: '/out/' })).status).to.equal(403)
    for (const path of ['/team/', '/team/docs/deep/', '/team/other/'])
      await all('PROPPATCH', path, {}, propertyUpdate(['{urn:x}color']))
  })

  it('DAV-3 DAV-50 what is in a work folder is hidden as elsewhere, and changes nothing', async () => {
    const folder = '/team/plan.sb-1a2b3c4d-abcdef/'
    await all('MKCOL', folder)
    await all('PUT', `${folder}page.html`, {}, '<p>x</p>')
    const told = async (depth: '0' | '1') =>
      (await pages('PROPFIND', folder, { Depth: depth }, propfindBody('getetag', 'getlastmodified', 'sync-token'))).text
    const before = [await told('0'), await told('1')]
    await all('PUT', `${folder}secret.txt`, {}, 'x')
    await all('MKCOL', `${folder}deep/`)
    await all('PUT', `${folder}deep/secret.txt`, {}, 'x')
    await all('PUT', `${folder}deep/secret.txt`, {}, 'other')
    expect([...(await list(pages, folder, '1')).keys()]).to.deep.equal([folder, `${folder}deep/`, `${folder}page.html`])
    expect([...(await list(pages, `${folder}deep/`, '1')).keys()]).to.deep.equal([`${folder}deep/`])
    expect((await pages('GET', folder)).text).not.to.include('secret')
    await all('DELETE', `${folder}deep/`)
    expect([await told('0'), await told('1')]).to.deep.equal(before)
    await all('DELETE', folder)
  })

  it('DAV-38 tokens of sync-collection are of what is seen', async () => {
    const sync = (token: string) =>
      `<D:sync-collection xmlns:D="DAV:"><D:sync-token>${token}</D:sync-token><D:sync-level>1</D:sync-level><D:prop><D:getetag/></D:prop></D:sync-collection>`
    const tokenOf = (text: string) => /<D:sync-token>(.*?)<\/D:sync-token>/.exec(text)?.[1] ?? ''
    const first = await docs('REPORT', '/team/', {}, sync(''))
    await all('PUT', '/team/hidden.txt', {}, 'x')
    const second = await docs('REPORT', '/team/', {}, sync(tokenOf(first.text)))
    expect(second.status).to.equal(207)
    expect(tokenOf(second.text)).to.equal(tokenOf(first.text))
    expect(readMultistatus(second.text).size).to.equal(0)
    const told = await docs('PROPFIND', '/team/', { Depth: '0' }, propfindBody('sync-token'))
    expect(tokenOf(told.text)).to.equal(tokenOf(first.text))
  })

  it('DAV-3 DAV-38 a token of somebody who sees more tells nothing', async () => {
    const token = async (author: Client) =>
      /<D:sync-token>(.*?)<\/D:sync-token>/.exec(
        (await author('PROPFIND', '/team/', { Depth: '1' }, propfindBody('sync-token'))).text,
      )?.[1]
    await all('PUT', '/team/gone.txt', {}, 'x')
    const foreign = await token(all)
    await all('DELETE', '/team/gone.txt')
    const report = `<D:sync-collection xmlns:D="DAV:"><D:sync-token>${foreign}</D:sync-token><D:sync-level>1</D:sync-level><D:prop/></D:sync-collection>`
    expect((await all('REPORT', '/team/', {}, report)).text).to.include('gone.txt')
    const answer = await docs('REPORT', '/team/', {}, report)
    expect(answer.status).to.equal(403)
    expect(answer.text).not.to.include('gone')
  })
})
