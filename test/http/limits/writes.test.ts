import { expect } from 'chai'
import { localRateLimits } from '../../../pipeline/coordination/local/rate-limits.ts'
import { Fault } from '../../../pipeline/fault.ts'
import { createContentBrake, createWriteBrake } from '../../../server/write-brake.ts'
import { composed } from '../../pipeline/compose/composing.ts'
import { page, putAll, rulesPage } from '../../support/content.ts'
import { client } from '../../support/http.ts'
import { startServer } from '../../support/server.ts'

describe('limits: writes of one visitor', () => {
  it('RFC 6585 §4 more of them than the setting allows are 429, and say when to come back', async () => {
    const server = await startServer({ settings: { limits: { writesPerMinute: 3 } } })
    try {
      await putAll(server, {
        '/page.html': page('<ul id="l"></ul>'),
        '/rules.html': rulesPage(['*', 'POST', 'Allow', '/page.html']),
      })
      const http = client(server.port)
      const post = () => http('POST', '/page.html', { Range: 'selector=#l' }, '<li>x</li>')
      for (let i = 0; i < 3; i++) expect((await post()).status).to.equal(206)
      const refused = await post()
      expect(refused.status).to.equal(429)
      expect(Number(refused.headers['retry-after'])).to.be.within(1, 20)
      expect(refused.text).to.include('More than 3 changes came from here within a minute.').and.to.include('try again')
      expect((await http('PUT', '/page.html', {}, 'x')).status, 'of every method').to.equal(429)
      expect((await http('GET', '/page.html')).text.match(/<li>/g)).to.have.length(3)
      const authorization = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`
      const mount = client(Number(new URL(server.mountUrl).port))
      for (let i = 0; i < 5; i++)
        expect((await mount('PUT', `/${i}.css`, { authorization }, 'x')).status, 'not on the mount').to.equal(201)
    } finally {
      await server.close()
    }
  })

  it('COMP-82 what visitors without cookies have kept in ever new sessions is bounded', async () => {
    const server = await startServer({ settings: { limits: { writesPerMinute: 8 } } })
    try {
      await putAll(server, { '/page.html': composed('<ul id="l" p:transient></ul>') })
      const http = client(server.port)
      const keep = async (bytes: number) =>
        (await http('PUT', '/page.html', { Range: 'selector=#l' }, `<ul id="l">${'x'.repeat(bytes)}</ul>`)).status
      const statuses = new Set<number>()
      for (let i = 0; i < 5; i++) statuses.add(await keep(250_000))
      expect([...statuses]).to.deep.equal([206, 429])
      expect(await keep(100), 'what a person keeps').to.equal(206)
    } finally {
      await server.close()
    }
  })

  it('RFC 6585 §4 addresses of one IPv6 network are one visitor, those of two are two', async () => {
    const spend = createWriteBrake(
      localRateLimits(() => 0),
      1,
    )
    const written = (address: string) =>
      spend?.({ site: 'a', user: undefined, address }).then(
        () => true,
        () => false,
      )
    expect(await written('2001:db8:0:1::1')).to.equal(true)
    expect(await written('2001:db8:0:1:ffff::2')).to.equal(false)
    expect(await written('2001:db8:0:2::1')).to.equal(true)
  })

  it('COMP-82 75 MiB of it in an hour, each visitor for themselves', async () => {
    let now = 0
    const spend = createContentBrake(
      localRateLimits(() => now),
      600,
    )
    const kept = async (address: string, bytes: number) => {
      let sum = 0
      for (; sum < 200 * 1024 * 1024; sum += bytes)
        if (
          await spend?.({ site: 'a', user: undefined, address }, bytes).then(
            () => false,
            () => true,
          )
        )
          break
      return Math.round(sum / 1024 / 1024)
    }
    expect(await kept('192.0.2.1', 256 * 1024)).to.equal(75)
    expect(await kept('192.0.2.2', 1024 * 1024)).to.equal(75)
    now += 1_800_000
    expect(await kept('192.0.2.1', 256 * 1024)).to.be.within(37, 38)
    expect(await kept('192.0.2.1', 4096)).to.equal(200)
  })

  const brake = (perMinute: number) =>
    createWriteBrake(
      localRateLimits(() => 0),
      perMinute,
    )
  const visitor = { site: 'a', user: undefined, address: '192.0.2.1' }
  const OTHERS: [what: string, other: object, free: boolean][] = [
    ['the same address', {}, false],
    ['another address', { address: '192.0.2.2' }, true],
    ['another site', { site: 'b' }, true],
    ['somebody signed in at the same address', { user: 'u' }, true],
  ]
  for (const [what, other, free] of OTHERS)
    it(`${what} ${free ? 'has writes of its own' : 'shares them'}`, async () => {
      const spend = brake(1)
      await spend?.(visitor)
      const outcome = await spend?.({ ...visitor, ...other }).then(
        () => true,
        error => !(error instanceof Fault && error.status === 429),
      )
      expect(outcome).to.equal(free)
    })

  it('somebody who is signed in is counted wherever they are', async () => {
    const spend = brake(1)
    await spend?.({ ...visitor, user: 'u' })
    const again = await spend?.({ ...visitor, user: 'u', address: '192.0.2.9' }).catch(error => error.status)
    expect(again).to.equal(429)
  })

  it('0 is no limit', () => {
    expect(brake(0)).to.equal(undefined)
  })
})
