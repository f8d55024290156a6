/** REPORT sync-collection over the wire (RFC 6578, DAV-38). */

import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { page } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { basic, outcomeOf, property, propertyUpdate, startWire, to, type Wire } from '../wire.ts'

const credentials = [
  { user: 'all', password: 'a', scope: ['/*'] },
  { user: 'half', password: 'h', scope: ['/*/open/*', '/*/o*'] },
]

let wire: Wire
let dav: Client
let count = 0
let at = ''

const body = (token: string, level = '1', props = '<D:getetag/>') =>
  `<D:sync-collection xmlns:D="DAV:"><D:sync-token>${token}</D:sync-token><D:sync-level>${level}</D:sync-level>` +
  `<D:prop>${props}</D:prop></D:sync-collection>`

/** Synchronizes. @returns members with their status, relative to the collection, and the next token */
async function sync(token: string, as = dav): Promise<{ members: string[]; next: string }> {
  const { status, text } = await as('REPORT', at, { Depth: '0' }, body(token))
  expect(status, text).to.equal(207)
  const members = Array.from(text.matchAll(/<D:response>(.*?)<\/D:response>/g), ([, response = '']) => {
    const href = /<D:href>(.*?)<\/D:href>/.exec(response)?.[1] ?? ''
    const isGone = !response.includes('<D:propstat>')
    expect(response).to.include(isGone ? '404 Not Found' : '200 OK')
    return `${isGone ? '-' : '+'}${href.slice(at.length)}`
  })
  const [, next = ''] = /<D:sync-token>(urn:sync:[0-9a-f]{64})<\/D:sync-token><\/D:multistatus>$/.exec(text) ?? []
  return { members, next }
}

describe('DAV-38 REPORT sync-collection', () => {
  before(async () => {
    wire = await startWire({ site: { credentials } })
    dav = client(wire.port, { Authorization: basic('all', 'a') })
  })
  after(() => wire.server.close())
  beforeEach(async () => {
    at = `/s${++count}/`
    await dav('MKCOL', at)
    await dav('MKCOL', `${at}sub/`)
    for (const name of ['a.html', 'b.css', 'o.txt']) await dav('PUT', at + name, {}, page(name))
  })

  it('tells all members to a client that has nothing', async () => {
    const { members, next } = await sync('')
    expect(members).to.deep.equal(['+a.html', '+b.css', '+o.txt', '+sub/'])
    expect(await sync(next)).to.deep.equal({ members: [], next })
  })

  const CHANGES: [what: string, change: () => Promise<unknown>, told: string[]][] = [
    ['a new member', () => dav('PUT', `${at}c.css`, {}, 'c'), ['+c.css']],
    ['an edited member', () => dav('PUT', `${at}b.css`, {}, 'other'), ['+b.css']],
    ['an edited element', () => dav('PUT', `${at}a.html`, { Range: 'selector=body' }, '<body>x</body>'), ['+a.html']],
    ['a member gone', () => dav('DELETE', `${at}b.css`), ['-b.css']],
    ['a renamed member', () => dav('MOVE', `${at}b.css`, to(`${at}c.css`)), ['-b.css', '+c.css']],
    ['a property', () => dav('PROPPATCH', `${at}b.css`, {}, propertyUpdate(['{urn:x}n', 'v'])), ['+b.css']],
    ['a new collection', () => dav('MKCOL', `${at}new/`), ['+new/']],
    ['a collection gone', () => dav('DELETE', `${at}sub/`), ['-sub/']],
    [
      'a collection in the place of a file',
      async () => {
        await dav('DELETE', `${at}b.css`)
        await dav('MKCOL', `${at}b.css/`)
      },
      ['-b.css', '+b.css/'],
    ],
    ['a change inside of a member', () => dav('PUT', `${at}sub/x.css`, {}, 'x'), []],
    ['a change beside it', () => dav('PUT', '/elsewhere.css', {}, `${count}`), []],
    ['a draft', () => dav('PUT', `${at}d.html`, {}, ''), ['+d.html']],
    ['a work file', () => dav('PUT', `${at}~$d.docx`, {}, 'w'), ['+~$d.docx']],
    ['a metadata file', () => dav('PUT', `${at}._d`, {}, 'm'), []],
  ]
  for (const [what, change, told] of CHANGES)
    it(`tells of ${what}: ${told.join(' ') || 'nothing'}`, async () => {
      const { next } = await sync('')
      await change()
      const then = await sync(next)
      expect(then.members).to.deep.equal(told)
      expect((await sync(then.next)).members).to.deep.equal([])
    })

  it('tells the changes of several writes at once, from any token that it gave', async () => {
    const first = await sync('')
    await dav('PUT', `${at}c.css`, {}, 'c')
    const second = await sync(first.next)
    await dav('DELETE', `${at}b.css`)
    expect((await sync(first.next)).members).to.deep.equal(['-b.css', '+c.css'])
    expect((await sync(second.next)).members).to.deep.equal(['-b.css'])
  })

  it('starts from the token that PROPFIND tells', async () => {
    const token = await property(dav, at, 'sync-token')
    await dav('PUT', `${at}c.css`, {}, 'c')
    expect((await sync(token)).members).to.deep.equal(['+c.css'])
  })

  it('tells the properties that were asked for', async () => {
    const { text } = await dav('REPORT', at, {}, body('', '1', '<D:getcontentlength/><x xmlns="urn:x"/>'))
    expect(text).to.include('<D:getcontentlength>').and.to.include('404 Not Found').and.not.include('getetag')
  })

  it('shows a credential its own members alone', async () => {
    const half = client(wire.port, { Authorization: basic('half', 'h') })
    const { members, next } = await sync('', half)
    expect(members).to.deep.equal(['+o.txt', '+sub/'])
    await dav('PUT', `${at}b.css`, {}, 'other')
    await dav('PUT', `${at}o.txt`, {}, 'other')
    expect((await sync(next, half)).members).to.deep.equal(['+o.txt'])
  })

  const REFUSED: [what: string, path: () => string, body: () => string, outcome: string, code: string][] = [
    ['an unknown token', () => at, () => body(`urn:sync:${'0'.repeat(64)}`), '403 Forbidden', 'valid-sync-token'],
    ['a token of somebody else', () => at, () => body('http://example.org/1'), '403 Forbidden', 'valid-sync-token'],
    ['the level infinite', () => at, () => body('', 'infinite'), '403 Forbidden', 'supported-report'],
    ['a file', () => `${at}b.css`, () => body(''), '403 Forbidden', 'supported-report'],
    ['another report', () => at, () => '<D:expand-property xmlns:D="DAV:"/>', '403 Forbidden', 'supported-report'],
    ['a body that is no XML', () => at, () => 'no', '400 MalformedXml', ''],
    ['no properties', () => at, () => '<D:sync-collection xmlns:D="DAV:"/>', '400 MalformedXml', ''],
    ['nothing there', () => `${at}none/`, () => body(''), '404 NotFound', ''],
  ]
  for (const [what, path, content, outcome, code] of REFUSED)
    it(`${outcome} ${code} for ${what}`, async () => {
      const answer = await dav('REPORT', path(), {}, content())
      expect(outcomeOf(answer)).to.equal(outcome)
      if (code !== '') expect(answer.text).to.include(`<D:${code}>`)
    })
})
