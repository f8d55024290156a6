import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { client } from '../../support/http.ts'
import { type ServerProcess, startProcess } from '../../support/process.ts'
import { newBrowser } from './browser.ts'
import { LOGIN, LOGOUT } from './fixture.ts'
import { startStubProvider } from './stub-provider.ts'

describe('sign-ins and the end of the process', () => {
  const running: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const stop of running.splice(0).reverse()) await stop()
  })

  it('SSN-5 who signed in stays so over kill -9, but not at another provider; who signed out stays out, a login under way is finished', async () => {
    const stub = await startStubProvider()
    running.push(stub.stop)
    const folder = await mkdtemp(join(tmpdir(), 'scriptorium-sign-in-'))
    running.push(() => rm(folder, { recursive: true, force: true }))
    // Nobody is let in by default, so that an answer tells who is who: 401 or 403.
    const site = (host: string, issuer: string) => ({
      host,
      defaultGet: 'deny',
      publicUrl: `http://${host}:1`,
      oidc: { issuer, clientId: 'site' },
    })
    /** @param changing provider of a second site */
    const start = async (changing: string): Promise<[process: ServerProcess, origin: string]> => {
      const sites = [site('localhost', stub.issuer), site('127.0.0.1', changing)]
      const started = await startProcess(folder, { data: join(folder, 'data'), sites })
      running.push(() => started.stop())
      return [started, `http://localhost:${started.port}`]
    }

    const [first, before] = await start(stub.issuer)
    const [alice, bob, carol, dave] = [newBrowser(), newBrowser(), newBrowser(), newBrowser()]
    const atSecond = (origin: string) => origin.replace('localhost', '127.0.0.1')
    const through = async (browser: typeof alice, sub: string, origin = before) => {
      const sent = await browser.get(origin + LOGIN)
      stub.lies = { claims: { sub } }
      const callback = sent.location && stub.callback(sent.location)
      if (callback) return browser.get(new URL(callback.pathname + callback.search, origin))
      throw new Error(sent.text)
    }
    expect((await through(alice, 'alice')).status).to.equal(302)
    expect((await through(bob, 'bob')).status).to.equal(302)
    expect((await through(dave, 'dave', atSecond(before))).status).to.equal(302)
    expect((await dave.get(`${atSecond(before)}/x.html`)).status).to.equal(403)
    const bobsCookie = bob.cookie('localhost', 'platform_session') ?? ''
    await bob.get(before + LOGOUT)
    const underWay = await carol.get(before + LOGIN)
    expect((await client(first.port)('GET', '/x.html')).status).to.equal(401)
    await first.stop('SIGKILL')

    const [, after] = await start('https://other.invalid')
    const status = async (browser: typeof alice) => (await browser.get(`${after}/x.html`)).status
    expect(await status(alice)).to.equal(403)
    expect((await dave.get(`${atSecond(after)}/x.html`)).status).to.equal(401)
    expect(await status(bob)).to.equal(401)
    bob.setCookie('localhost', 'platform_session', bobsCookie)
    expect(await status(bob)).to.equal(401)
    stub.lies = { claims: { sub: 'carol' } }
    if (!underWay.location) throw new Error(underWay.text)
    const callback = stub.callback(underWay.location)
    const back = await carol.get(new URL(callback.pathname + callback.search, after))
    expect(back.status, back.text).to.equal(302)
    expect(await status(carol)).to.equal(403)
  })
})
