import { expect } from 'chai'
import type { Received } from '../../support/http.ts'
import { type Authors, codeOf, lockInfo, outcomeOf, startMount, take, tokenOf } from '../locks/locking.ts'

/** Seconds that a lock may have lived before the answer that tells of it is written. */
const SLOW = 15

/** Seconds that an answer leaves to a lock. */
function secondsOf({ text }: Received): number {
  return Number(/<D:timeout>Second-(\d+)<\/D:timeout>/.exec(text)?.[1])
}

describe('LOCK', () => {
  let mount: Authors
  before(async () => {
    mount = await startMount()
    await mount.ann('MKCOL', '/docs/')
  })
  after(() => mount.server.close())

  describe('taking', () => {
    it('DAV-81 tells the lock in header and body', async () => {
      const { ann } = mount
      await ann('PUT', '/told.txt', {}, 'x')
      const owner = '<D:owner><D:href>http://www.apple.com/webdav_fs/</D:href></D:owner>'
      const response = await ann('LOCK', '/told.txt', { Depth: '0', Timeout: 'Second-77' }, lockInfo('shared', owner))
      const token = tokenOf(response)
      expect(response.status).to.equal(200)
      expect(response.headers['content-type']).to.equal('application/xml; charset=utf-8')
      expect(secondsOf(response)).to.be.within(77 - SLOW, 77)
      expect(response.text.replace(/Second-\d+/, 'Second-77')).to.equal(
        '<?xml version="1.0" encoding="utf-8"?><D:prop xmlns:D="DAV:"><D:lockdiscovery><D:activelock>' +
          '<D:locktype><D:write/></D:locktype><D:lockscope><D:shared/></D:lockscope><D:depth>0</D:depth>' +
          `${owner}<D:timeout>Second-77</D:timeout><D:locktoken><D:href>${token}</D:href></D:locktoken>` +
          '<D:lockroot><D:href>/told.txt</D:href></D:lockroot></D:activelock></D:lockdiscovery></D:prop>',
      )
    })

    it('DAV-81 a LOCK of nothing makes an empty blob and answers 201', async () => {
      const { ann, visitor } = mount
      const response = await ann('LOCK', '/new.bin', {}, lockInfo())
      expect(response.status).to.equal(201)
      expect(await ann('GET', '/new.bin')).to.include({ status: 200, text: '' })
      expect(await visitor('GET', '/new.bin')).to.include({ status: 200, text: '' })
      expect((await ann('PUT', '/new.bin', { If: `(<${tokenOf(response)}>)` }, 'x')).status).to.equal(204)
    })

    for (const name of ['new.html', 'new.htm', 'new.xml']) {
      it(`DAV-60 DAV-81 a LOCK of nothing makes a draft of ${name} and answers 201`, async () => {
        const { ann, visitor } = mount
        const response = await ann('LOCK', `/${name}`, {}, lockInfo())
        expect(response.status).to.equal(201)
        expect(await ann('GET', `/${name}`)).to.include({ status: 200, text: '' })
        expect((await visitor('GET', `/${name}`)).status).to.equal(404)
        const again = await ann('LOCK', `/${name}`, {}, lockInfo())
        expect(outcomeOf(again)).to.equal('423 Locked')
      })
    }

    it('DAV-71 DAV-81 a LOCK of nothing makes a helper file', async () => {
      const { ann, visitor } = mount
      expect((await ann('LOCK', '/~$plan.docx', {}, lockInfo())).status).to.equal(201)
      expect((await ann('GET', '/~$plan.docx')).status).to.equal(200)
      expect((await visitor('GET', '/~$plan.docx')).status).to.equal(404)
    })

    it('DAV-12 a collection is known with and without slash', async () => {
      const { ann } = mount
      await ann('MKCOL', '/slash/')
      const response = await ann('LOCK', '/slash', { Depth: '0' }, lockInfo())
      expect(response).to.include({ status: 200 })
      expect(response.headers['content-location']).to.equal('/slash/')
      expect(response.text).to.contain('<D:lockroot><D:href>/slash/</D:href></D:lockroot>')
      expect((await ann('UNLOCK', '/slash/', { 'Lock-Token': `<${tokenOf(response)}>` })).status).to.equal(204)
    })

    const refused: [name: string, path: string, fields: Record<string, string>, body: string, outcome: string][] = [
      ['the parent must exist', '/none/x.txt', {}, lockInfo(), '409 ParentDirectoryMissing'],
      ['a file has no slash', '/none/', {}, lockInfo(), '400 InvalidPath'],
      ['reserved paths', '/-platform/x', {}, lockInfo(), '403 Reserved'],
      ['DAV-80 Depth: 1', '/depth', { Depth: '1' }, lockInfo(), '400 BadRequest'],
      ['DAV-80 Depth: everything', '/depth', { Depth: 'all' }, lockInfo(), '400 BadRequest'],
      ['a body that is no XML', '/body', {}, 'lock it', '400 MalformedXml'],
      ['a body without a type', '/body', {}, '<lockinfo xmlns="DAV:"/>', '400 MalformedXml'],
      ['another type', '/body', {}, lockInfo().replace('D:write', 'D:read'), '422 UnsupportedLock'],
      [
        'a long owner',
        '/body',
        {},
        lockInfo('shared', `<D:owner>${'x'.repeat(9000)}</D:owner>`),
        '413 PayloadTooLarge',
      ],
      ['a long body', '/body', {}, ' '.repeat(70_000) + lockInfo(), '413 PayloadTooLarge'],
      ['If-None-Match: * where something is', '/docs', { 'If-None-Match': '*' }, lockInfo(), '412 PreconditionFailed'],
      ['If-Match where nothing is', '/body', { 'If-Match': '*' }, lockInfo(), '412 PreconditionFailed'],
      ['DAV-89 an If header that does not hold', '/body', { If: '(<urn:x>)' }, lockInfo(), '412 PreconditionFailed'],
    ]
    for (const [name, path, fields, body, outcome] of refused) {
      it(`DAV-81 refuses ${outcome}: ${name}`, async () => {
        expect(outcomeOf(await mount.ann('LOCK', path, fields, body))).to.equal(outcome)
        expect((await mount.ann('GET', '/body')).status).to.equal(404)
      })
    }

    it('DAV-3 is for those who may write there', async () => {
      const { rita, dora, ann } = mount
      await ann('PUT', '/docs/scope.txt', {}, 'x')
      expect(outcomeOf(await rita('LOCK', '/docs/scope.txt', {}, lockInfo()))).to.equal('403 Forbidden')
      expect(outcomeOf(await dora('LOCK', '/scope.txt', {}, lockInfo()))).to.equal('403 Forbidden')
      expect((await dora('LOCK', '/docs/scope.txt', { Depth: '0' }, lockInfo())).status).to.equal(200)
      expect((await ann('GET', '/scope.txt')).status).to.equal(404)
    })

    it('DAV-82 a lock on the path or above is in the way', async () => {
      const { ann, bob } = mount
      await ann('MKCOL', '/c1/')
      await ann('PUT', '/c1/ä b.txt', {}, 'x')
      await take(ann, '/c1/ä b.txt'.replace('ä', '%C3%A4').replace(' ', '%20'))
      for (const author of [ann, bob]) {
        const response = await author('LOCK', '/c1/%C3%A4%20b.txt', {}, lockInfo('shared'))
        expect(outcomeOf(response)).to.equal('423 Locked')
        expect(codeOf(response)).to.equal('no-conflicting-lock /c1/%C3%A4%20b.txt')
      }
      await ann('MKCOL', '/c2/')
      await take(ann, '/c2/', { Depth: 'infinity' })
      const response = await bob('LOCK', '/c2/new.txt', {}, lockInfo())
      expect(codeOf(response)).to.equal('no-conflicting-lock /c2/')
      expect((await ann('GET', '/c2/new.txt')).status).to.equal(404)
    })

    it('DAV-82 a lock below is told in a multistatus', async () => {
      const { ann, bob } = mount
      await ann('MKCOL', '/c3/')
      await ann('PUT', '/c3/m.txt', {}, 'x')
      await take(ann, '/c3/m.txt')
      const response = await bob('LOCK', '/c3', {}, lockInfo())
      expect(response.status).to.equal(207)
      expect(response.headers).not.to.have.property('lock-token')
      expect(response.text).to.equal(
        '<?xml version="1.0" encoding="utf-8"?><D:multistatus xmlns:D="DAV:">' +
          '<D:response><D:href>/c3/m.txt</D:href><D:status>HTTP/1.1 423 Locked</D:status>' +
          '<D:error><D:no-conflicting-lock><D:href>/c3/m.txt</D:href></D:no-conflicting-lock></D:error></D:response>' +
          '<D:response><D:href>/c3/</D:href><D:status>HTTP/1.1 424 Failed Dependency</D:status></D:response></D:multistatus>',
      )
      expect((await bob('LOCK', '/c3', { Depth: '0' }, lockInfo())).status).to.equal(200)
    })

    it('DAV-82 of eight simultaneous requests exactly one wins', async () => {
      const { ann, bob } = mount
      for (let round = 0; round < 5; round++) {
        const path = `/race${round}.txt`
        const all = await Promise.all(
          Array.from({ length: 8 }, (_, i) => (i % 2 ? ann : bob)('LOCK', path, {}, lockInfo())),
        )
        expect(all.map(({ status }) => status).sort()).to.deep.equal([201, 423, 423, 423, 423, 423, 423, 423])
      }
    })

    it('DAV-86 a LOCK that makes a file needs the token of its collection, and leaves no lock when it is refused', async () => {
      const { ann, bob } = mount
      await ann('MKCOL', '/c4/')
      const token = await take(ann, '/c4/')
      const response = await bob('LOCK', '/c4/new.txt', {}, lockInfo())
      expect(outcomeOf(response)).to.equal('423 Locked')
      expect(codeOf(response)).to.equal('lock-token-submitted /c4/')
      expect((await bob('GET', '/c4/new.txt')).status).to.equal(404)
      expect((await ann('LOCK', '/c4/new.txt', { If: `</c4/> (<${token}>)` }, lockInfo())).status).to.equal(201)
    })

    for (const [timeout, shown] of [
      ['Second-4100000000', 3600],
      ['Infinite', 3600],
      ['Second-x', 600],
      [undefined, 600],
    ] as const) {
      it(`DAV-83 Timeout ${timeout ?? 'absent'} grants ${shown} s`, async () => {
        const path = `/timeout-${timeout ?? 'absent'}.txt`
        const response = await mount.ann('LOCK', path, { Timeout: timeout }, lockInfo())
        expect(secondsOf(response)).to.be.within(shown - SLOW, shown)
      })
    }
  })

  describe('refreshing', () => {
    it('DAV-84 restarts the timer and tells the token in the body alone', async () => {
      const { ann } = mount
      await ann('MKCOL', '/r1/')
      const token = await take(ann, '/r1/', { Depth: 'infinity', Timeout: 'Second-100' })
      for (const path of ['/r1/', '/r1', '/r1/below/unmapped.txt']) {
        for (const body of ['', ' \r\n']) {
          const response = await ann('LOCK', path, { If: `(<${token}>)`, Timeout: 'Second-300' }, body)
          expect(response.status).to.equal(200)
          expect(response.headers).not.to.have.property('lock-token')
          expect(response.text).to.contain(`<D:locktoken><D:href>${token}</D:href></D:locktoken>`)
          expect(secondsOf(response)).to.be.within(300 - SLOW, 300)
        }
      }
    })

    it('DAV-84 one of several shared locks', async () => {
      const { ann, bob } = mount
      await ann('PUT', '/r2.txt', {}, 'x')
      const token = await take(ann, '/r2.txt', {}, 'shared')
      await take(bob, '/r2.txt', {}, 'shared')
      const response = await ann('LOCK', '/r2.txt', { If: `(<${token}>)` })
      expect(response.text.match(/opaquelocktoken:[^<]*/g)).to.deep.equal([token])
    })

    it('DAV-84 refuses what it cannot refresh', async () => {
      const { ann, bob } = mount
      await ann('PUT', '/r3.txt', {}, 'x')
      const token = await take(ann, '/r3.txt')
      const other = await take(ann, '/r4.txt')
      expect(outcomeOf(await ann('LOCK', '/r3.txt'))).to.equal('400 BadRequest')
      expect(outcomeOf(await bob('LOCK', '/r3.txt', { If: `(<${token}>)` }))).to.equal('403 Forbidden')
      for (const If of [
        '(<opaquelocktoken:unknown>)',
        `(<${other}>)`,
        `</r4.txt> (<${other}>)`,
        '(Not <DAV:no-lock>)',
      ]) {
        const response = await ann('LOCK', '/r3.txt', { If })
        expect(outcomeOf(response), If).to.equal('412 PreconditionFailed')
        expect(codeOf(response), If).to.equal('lock-token-matches-request-uri')
      }
    })
  })
})
