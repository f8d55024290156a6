import { expect } from 'chai'
import { put } from '../support/content.ts'
import { type Fields, type Received, tagOf } from '../support/http.ts'
import { type Authors, lockInfo, startMount, tokenOf } from './locks/locking.ts'

const FACTS =
  '<propfind xmlns="DAV:"><prop><getcontentlength/><resourcetype/><lockdiscovery/><getetag/><x xmlns="urn:x"/></prop></propfind>'
const setX = (value: string) =>
  `<propertyupdate xmlns="DAV:"><set><prop><x xmlns="urn:x">${value}</x></prop></set></propertyupdate>`

describe('listings that are asked for again', () => {
  let mount: Authors
  before(async () => {
    mount = await startMount()
  })
  after(() => mount.server.close())

  const list = (path = '/k/', fields: Fields = {}, body = FACTS) =>
    mount.ann('PROPFIND', path, { Depth: '1', ...fields }, body)

  const changes: [name: string, change: () => Promise<unknown>, shown: RegExp][] = [
    ['a new file', () => mount.ann('PUT', '/k/new.txt', {}, '12345'), /new\.txt<.*?<D:getcontentlength>5</],
    ['a saved file', () => mount.ann('PUT', '/k/a.txt', {}, '1234567'), /a\.txt<.*?<D:getcontentlength>7</],
    ['a write by the operator', () => put(mount.server, '/k/public.txt', 'x'), /public\.txt</],
    ['a property of a member', () => mount.ann('PROPPATCH', '/k/a.txt', {}, setX('of a')), />of a</],
    ['a property of the collection', () => mount.ann('PROPPATCH', '/k/', {}, setX('of k')), />of k</],
    ['a draft', () => mount.ann('PUT', '/k/draft.html', {}, ''), /draft\.html<.*?<D:getcontentlength>0</],
    ['a work file', () => mount.ann('PUT', '/k/~$a.docx', {}, 'ann'), /~\$a\.docx</],
    ['a new collection', () => mount.ann('MKCOL', '/k/deep/'), /deep\/</],
    ['something deeper down', () => mount.ann('PUT', '/k/deep/x.txt', {}, 'x'), /deep\/</],
    ['a renamed file', () => mount.ann('MOVE', '/k/new.txt', { Destination: '/k/renamed.txt' }), /renamed\.txt</],
    ['a removed file', () => mount.ann('DELETE', '/k/renamed.txt'), /^(?!.*renamed)/],
  ]

  it('DAV-50 shows every change at once, with another tag', async () => {
    await mount.ann('MKCOL', '/k/')
    await mount.ann('PUT', '/k/a.txt', {}, 'a')
    for (const [name, change, shown] of changes) {
      const before = await list()
      expect((await list()).text, name).to.equal(before.text)
      await change()
      const after = await list()
      expect(after.text, name).to.match(shown)
      expect(tagOf(after), name).not.to.equal(tagOf(before))
      expect((await list('/k/', { 'If-None-Match': tagOf(before) })).status, name).to.equal(207)
      expect((await list('/k/', { 'If-None-Match': tagOf(after) })).status, name).to.equal(304)
    }
  })

  it('DAV-88 shows locks and their time, and none when they are gone', async () => {
    await mount.ann('MKCOL', '/l/')
    await mount.ann('PUT', '/l/a.txt', {}, 'a')
    const free = await list('/l/')
    for (const path of ['/l/a.txt', '/l/']) {
      const token = tokenOf(await mount.ann('LOCK', path, { Depth: '0' }, lockInfo()))
      const locked = await list('/l/')
      expect(locked.text).to.contain(token)
      expect(tagOf(locked)).to.match(/-l[0-9a-f]{16}"$/)
      expect((await list('/l/', { 'If-None-Match': tagOf(locked) })).status).to.equal(304)
      expect((await list('/l/', { 'If-None-Match': tagOf(free) })).status).to.equal(207)
      await mount.ann('UNLOCK', path, { 'Lock-Token': `<${token}>` })
      expect((await list('/l/')).text).to.equal(free.text)
    }
  })

  it('DAV-32 keeps questions apart', async () => {
    await mount.ann('MKCOL', '/q/')
    await mount.ann('PUT', '/q/a.txt', {}, 'a')
    const ask: (() => Promise<Received>)[] = [
      () => list('/q/'),
      () => list('/q/', {}, ''),
      () => list('/q/', { Prefer: 'return=minimal' }),
      () => list('/q/', { Depth: '1,noroot' }),
      () => list('/q/', { Depth: '0' }),
      () => list('/q/', {}, FACTS.replace('<getetag/>', '')),
    ]
    const first = []
    for (const one of ask) first.push((await one()).text)
    expect(new Set(first).size).to.equal(ask.length)
    for (const [i, one] of ask.entries()) expect((await one()).text).to.equal(first[i])
  })

  it('DAV-88 locks elsewhere change nothing, however many are taken and ended', async () => {
    for (const path of ['/e/', '/e2/']) await mount.ann('MKCOL', path)
    for (const path of ['/e/a.txt', '/e2/b.txt']) await mount.ann('PUT', path, {}, 'x')
    const free = (await list('/e/')).text
    for (let i = 0; i < 3; i++) {
      const elsewhere = tokenOf(await mount.ann('LOCK', '/e2/b.txt', { Depth: '0' }, lockInfo()))
      expect((await list('/e/')).text).to.equal(free)
      const token = tokenOf(await mount.ann('LOCK', '/e/a.txt', { Depth: '0' }, lockInfo()))
      expect((await list('/e/')).text).to.contain(token)
      await mount.ann('UNLOCK', '/e/a.txt', { 'Lock-Token': `<${token}>` })
      expect((await list('/e/')).text).to.equal(free)
      await mount.ann('UNLOCK', '/e2/b.txt', { 'Lock-Token': `<${elsewhere}>` })
    }
  })

  it('DAV-3 never shows one author what another may see', async () => {
    await mount.ann('MKCOL', '/docs/')
    await mount.ann('PUT', '/hidden.txt', {}, 'x')
    expect((await list('/')).text).to.contain('hidden.txt')
    expect((await mount.dora('PROPFIND', '/', { Depth: '1' }, FACTS)).text).not.to.contain('hidden.txt')
    const privileges = '<propfind xmlns="DAV:"><prop><current-user-privilege-set/></prop></propfind>'
    expect((await list('/docs/', {}, privileges)).text).to.contain('<D:write/>')
    expect((await mount.rita('PROPFIND', '/docs/', { Depth: '1' }, privileges)).text).not.to.contain('<D:write/>')
  })
})
