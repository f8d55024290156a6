import { expect } from 'chai'
import { type Authors, codeOf, outcomeOf, startMount, take } from '../locks/locking.ts'

describe('UNLOCK', () => {
  let mount: Authors
  before(async () => {
    mount = await startMount()
    await mount.ann('MKCOL', '/docs/')
    await mount.ann('MKCOL', '/tree/')
    await mount.ann('PUT', '/tree/f.txt', {}, 'x')
  })
  after(() => mount.server.close())

  it('DAV-85 ends the lock', async () => {
    const { ann, bob } = mount
    const token = await take(ann, '/tree/f.txt')
    expect(await ann('UNLOCK', '/tree/f.txt', { 'Lock-Token': `<${token}>` })).to.include({ status: 204, text: '' })
    expect((await bob('PUT', '/tree/f.txt', {}, 'y')).status).to.equal(204)
    expect(outcomeOf(await ann('UNLOCK', '/tree/f.txt', { 'Lock-Token': `<${token}>` }))).to.equal(
      '409 LockTokenMismatch',
    )
  })

  for (const [path, field] of [
    ['/tree/', '<T>'],
    ['/tree', '<T>'],
    ['/tree/f.txt', '<T>'],
    ['/tree/not/there.txt', '<T>'],
    ['/tree/', 'T'],
    ['/tree/', ' <T> '],
  ] as const) {
    it(`DAV-85 through any resource in scope: ${path} with "${field}"`, async () => {
      const token = await take(mount.ann, '/tree/', { Depth: 'infinity' })
      const response = await mount.ann('UNLOCK', path, { 'Lock-Token': field.replace('T', token) })
      expect(response.status).to.equal(204)
    })
  }

  for (const field of [
    undefined,
    '',
    '<>',
    'x',
    '<x>',
    '<opaquelocktoken:a> <opaquelocktoken:b>',
    '<opaquelocktoken:a',
    '<opaque locktoken:a>',
  ]) {
    it(`DAV-85 400 for ${field === undefined ? 'no Lock-Token' : `Lock-Token: ${field}`}`, async () => {
      expect(outcomeOf(await mount.ann('UNLOCK', '/tree/', { 'Lock-Token': field }))).to.equal('400 BadRequest')
    })
  }

  it('DAV-85 409 where the token is unknown or does not cover the path', async () => {
    const { ann } = mount
    const token = await take(ann, '/tree/f.txt')
    for (const [path, field] of [
      ['/tree/f.txt', '<opaquelocktoken:e71d4fae-5dec-22d6-fea5-00a0c91e6be4>'],
      ['/tree/', `<${token}>`],
      ['/tree/f.txt.bak', `<${token}>`],
      ['/tree/f.txt', '<DAV:no-lock>'],
    ] as const) {
      const response = await ann('UNLOCK', path, { 'Lock-Token': field })
      expect(outcomeOf(response)).to.equal('409 LockTokenMismatch')
      expect(codeOf(response)).to.equal('lock-token-matches-request-uri')
    }
    await ann('UNLOCK', '/tree/f.txt', { 'Lock-Token': token })
  })

  it('DAV-85 the lock of another credential needs the whole site as scope', async () => {
    const { ann, bob, dora, rita } = mount
    const token = `<${await take(ann, '/docs/d.txt')}>`
    expect(outcomeOf(await dora('UNLOCK', '/docs/d.txt', { 'Lock-Token': token }))).to.equal('403 Forbidden')
    expect(outcomeOf(await rita('UNLOCK', '/docs/d.txt', { 'Lock-Token': token }))).to.equal('403 Forbidden')
    expect((await bob('UNLOCK', '/docs/d.txt', { 'Lock-Token': token })).status).to.equal(204)
    expect((await dora('PUT', '/docs/d.txt', {}, 'x')).status).to.equal(204)
  })
})
