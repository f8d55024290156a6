/** What a listing tells of locks: everything, as long as it stays a listing that clients can read (DAV-88). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { locksTold } from '../../../dav/locks/lock-xml.ts'
import { type Lock, lockKey } from '../../../pipeline/coordination/locks.ts'
import { propfindBody, startWire, type Wire } from '../wire.ts'

const LONG = `<D:owner>${'o'.repeat(8000)}</D:owner>`
/** Each lock tells where it was taken. */
const DEEP = `/${'p'.repeat(3000)}/`

function lock(user: string, path: string, depth: Lock['depth'], owner = '<D:owner>x</D:owner>'): Lock {
  return { token: `urn:${user}:${path}`, user, path, depth, scope: 'shared', owner, expires: 600_000 }
}

/** Tokens and owners that a member shows. */
function shown(element: string): string {
  const tokens = Array.from(element.matchAll(/<D:locktoken><D:href>(.*?)</g), ([, token]) => token)
  return `${tokens.join(' ')}, owners ${element.match(/<D:owner>/g)?.length ?? 0}`
}

describe('locks told at members', () => {
  const many = (count: number, path: string, depth: Lock['depth'], owner?: string) =>
    Array.from({ length: count }, (_, i) => lock(`u${i}`, path, depth, owner))
  const CASES: [what: string, inherited: Lock[], taken: Lock[], members: number, user: string, told: string][] = [
    [
      'few are all told',
      many(2, '/a/', 'infinity'),
      many(1, '/a/f', 0),
      9,
      'u0',
      'urn:u0:/a/ urn:u1:/a/ urn:u0:/a/f, owners 3',
    ],
    [
      'of long ones that many members inherit one',
      many(3, '/a/', 'infinity', LONG),
      [],
      800,
      'x',
      'urn:u0:/a/, owners 0',
    ],
    ['the own one first', many(3, '/a/', 'infinity', LONG), [], 800, 'u2', 'urn:u2:/a/, owners 0'],
    [
      'beside it those of the member',
      many(3, '/a/', 'infinity', LONG),
      many(2, '/a/f', 0),
      800,
      'u1',
      'urn:u1:/a/ urn:u0:/a/f urn:u1:/a/f, owners 2',
    ],
    ['of those with a long path one', many(3, DEEP, 'infinity'), [], 800, 'x', `urn:u0:${DEEP}, owners 0`],
    ['of very many taken ones one', [], many(600, '/a/f', 0, LONG), 1, 'u7', 'urn:u7:/a/f, owners 0'],
  ]
  for (const [what, inherited, taken, members, user, told] of CASES)
    it(`DAV-88 ${what}`, () => {
      const own = [lock('own', '/a/', 0), ...inherited]
      const locks = { own, inherited, taken: Map.groupBy(taken, ({ path }) => lockKey(path)), known: true }
      const { ofTarget, ofMember } = locksTold(locks, { members, user, hrefOf: path => path, now: 0 })
      expect(shown(ofMember('/a/f'))).to.equal(told)
      expect(ofTarget.match(/<D:activelock>/g), 'the target tells everything').to.have.length(own.length)
      expect(ofTarget.match(/<D:owner>/g)).to.have.length(own.length)
      expect(ofMember('/a/other')).to.equal(ofMember('/a/other/'))
    })
})

describe('a collection under many locks', () => {
  const MEMBERS = 60
  let wire: Wire
  before(async () => {
    wire = await startWire()
    const { dav } = wire
    for (let i = 0; i < MEMBERS; i++) await dav('PUT', `/docs/${i}.txt`, {}, 'x')
    const body = `<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:shared/></D:lockscope><D:locktype><D:write/></D:locktype>${LONG}</D:lockinfo>`
    for (let i = 0; i < 64; i++) expect((await dav('LOCK', '/docs/', {}, body)).status).to.equal(200)
  })
  after(() => wire.server.close())

  for (const [what, method, headers, request] of [
    ['PROPFIND', 'PROPFIND', { Depth: '1' }, propfindBody('lockdiscovery')],
    ['allprop', 'PROPFIND', { Depth: '1' }, ''],
    [
      'REPORT',
      'REPORT',
      {},
      '<D:sync-collection xmlns:D="DAV:"><D:sync-token/><D:sync-level>1</D:sync-level><D:prop><D:lockdiscovery/></D:prop></D:sync-collection>',
    ],
  ] as const)
    it(`DAV-88 a listing by ${what} does not grow with the locks times the members`, async () => {
      const answer = await wire.dav(method, '/docs/', headers, request)
      expect(answer.status).to.equal(207)
      expect(answer.text.length).to.be.lessThan(64 * 8400 + MEMBERS * 1500)
      expect(answer.text.match(/<D:activelock>/g)).to.have.length(MEMBERS + (method === 'REPORT' ? 0 : 64))
    })

  it('DAV-88 a member by itself tells all of them', async () => {
    const { text } = await wire.dav('PROPFIND', '/docs/1.txt', { Depth: '0' }, propfindBody('lockdiscovery'))
    expect(text.match(/<D:activelock>/g)).to.have.length(64)
    expect(text.match(/<D:owner>/g)).to.have.length(64)
  })
})
