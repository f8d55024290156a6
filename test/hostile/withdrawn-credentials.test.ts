import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { loadSettings } from '../../config/load.ts'
import { basic, changesNothing, outcomeOf, propertyUpdate, startWire, type Wire } from '../dav/wire.ts'
import { selecting } from '../http/write-checks.ts'
import { page, put } from '../support/content.ts'
import { connect, type Fields, requestBytes } from '../support/http.ts'

const ANN = { user: 'ann', password: 'ann’s', scope: ['/*'] }
const PART = { user: 'part', password: 'part’s', scope: ['/*/', '/*/open*', '/to/*'] }

describe('credentials that are withdrawn while a request is under way', () => {
  let wire: Wire

  before(async () => {
    wire = await startWire({ site: { credentials: [ANN, PART] } })
  })
  after(() => wire.server.close())
  beforeEach(async () => {
    await put(wire.server, '/d.html', page('<ul id="l"><li id="a">a</li></ul>'))
    await renew([ANN, PART])
  })

  /** What SIGHUP does after the settings file has other credentials. */
  async function renew(credentials: object[], { server } = wire): Promise<void> {
    const file = join(server.data, 'settings.json')
    const written = JSON.parse(await readFile(file, 'utf8'))
    await writeFile(file, JSON.stringify({ ...written, defaults: { ...written.defaults, credentials } }))
    server.running.renew((await loadSettings({ file })).settings)
  }

  async function meanwhile(
    [method, path, fields, body]: (typeof FORMS)[number],
    change: () => Promise<unknown>,
  ): Promise<string> {
    const connection = await connect(wire.port)
    const length = { 'Content-Length': String(Buffer.byteLength(body)), Expect: '100-continue' }
    connection.send(requestBytes(method, path, { Authorization: basic(ANN.user, ANN.password), ...fields, ...length }))
    expect((await connection.receive()).status, `${method} ${path}`).to.equal(100)
    await change()
    connection.send(body)
    const answer = await connection.receive()
    connection.close()
    return outcomeOf(answer)
  }

  const XML = { 'Content-Type': 'application/xml' }
  const form =
    '--b\r\nContent-Disposition: form-data; name="do"\r\n\r\nupload\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="up.css"\r\n\r\nx\r\n--b--\r\n'
  const FORMS: readonly (readonly [method: string, path: string, fields: Fields, body: string])[] = [
    ['PUT', '/d.html', {}, page('new')],
    ['PUT', '/new.css', {}, 'x'],
    ['PUT', '/.~lock.d.html%23', {}, 'x'],
    ['PUT', '/d.html', selecting('#a'), '<li id="a">x</li>'],
    ['POST', '/d.html', selecting('#l'), '<li>x</li>'],
    ['PROPPATCH', '/d.html', XML, propertyUpdate(['{urn:x}p', 'x'])],
    ['MKCOL', '/made/', XML, '<D:mkcol xmlns:D="DAV:"/>'],
    [
      'LOCK',
      '/locked.css',
      XML,
      '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>',
    ],
    ['POST', '/', { 'Content-Type': 'multipart/form-data; boundary=b', 'Sec-Fetch-Site': 'same-origin' }, form],
  ]

  for (const sent of FORMS) {
    const [method, path, fields] = sent
    it(`DAV-3 ${method} ${path} ${'Range' in fields ? 'of an element' : ''} stores nothing any more`, async () => {
      const other = [{ ...ANN, password: 'another' }, PART]
      expect(await changesNothing(wire.server, () => meanwhile(sent, () => renew(other)))).to.match(/^401/)
    })
  }

  it('DAV-3 those that are withdrawn while a mount is being opened do not open it', async () => {
    const other = await startWire({ site: { credentials: [ANN] } })
    const { store } = other.server.running
    const siteOf = store.site
    // What is kept unpublished is read when the mount is opened.
    store.site = name => {
      const site = siteOf.call(store, name)
      return Object.assign(Object.create(site), {
        async *walk(...given: Parameters<typeof site.walk>) {
          if (given[1]?.collections) await renew([PART], other)
          yield* site.walk(...given)
        },
      })
    }
    const fields = { Authorization: basic(ANN.user, ANN.password) }
    for (const what of ['at once', 'later'])
      expect((await other.stranger('GET', '/d.html', fields)).status, what).to.equal(401)
    await other.server.close()
  })

  it('DAV-3 settings that are read again with the same credential refuse nobody', async () => {
    const sent = ['PUT', '/d.html', {}, page('again')] as const
    expect(await meanwhile(sent, () => renew([PART, ANN]))).to.equal('204')
  })

  for (const method of ['COPY', 'MOVE', 'DELETE']) {
    const from = `/${method.toLowerCase()}/`
    const ask = () => {
      const destination = method === 'DELETE' ? {} : { Destination: `/to${from}` }
      return wire.dav(method, from, { Authorization: basic(PART.user, PART.password), ...destination })
    }

    it(`DAV-8 a member out of the scope that comes while ${method} waits for its turn refuses it`, async () => {
      const { site } = wire.server
      await put(wire.server, `${from}open.css`, 'x')
      await put(wire.server, '/to/x.css', 'x')
      const { promise: isFree, resolve: free } = Promise.withResolvers<void>()
      const held = site.leases.hold(site.store.name, [from], () => isFree)
      const waits = site.leases.hold.bind(site.leases)
      const arrived = Promise.withResolvers<void>()
      site.leases.hold = (name, paths, work) => {
        if (paths.includes(from)) arrived.resolve()
        return waits(name, paths, work)
      }
      try {
        const answer = ask()
        await arrived.promise
        await put(wire.server, `${from}secret.css`, 'secret')
        free()
        expect(outcomeOf(await answer)).to.equal('403 Forbidden')
      } finally {
        site.leases.hold = waits
        await held
      }
      expect((await site.store.list(from)).map(({ path }) => path)).to.deep.equal([
        `${from}open.css`,
        `${from}secret.css`,
      ])
      expect(await site.store.find(`/to${from}`)).to.equal(undefined)
    })

    it(`DAV-8 so does a work file out of the scope: ${method}`, async () => {
      const path = `${from}.~lock.secret.odt%23`
      const whole = { Authorization: basic(ANN.user, ANN.password) }
      await wire.dav('DELETE', from, whole)
      await put(wire.server, `${from}open.css`, 'x')
      expect((await wire.dav('PUT', path, whole, 'secret')).status).to.equal(201)
      expect(await changesNothing(wire.server, async () => outcomeOf(await ask()))).to.equal('403 Forbidden')
    })
  }

  it('DAV-88 a lock on a member out of the scope is not told of', async () => {
    await put(wire.server, '/lock/secret.css', 'secret')
    const [, , , lock] = FORMS.find(([method]) => method === 'LOCK') ?? []
    const part = { Authorization: basic(PART.user, PART.password) }
    const refusals = async () => [
      (await wire.dav('DELETE', '/lock/', part)).text,
      (await wire.dav('MOVE', '/lock/', { ...part, Destination: '/to/lock/' })).text,
      (await wire.dav('COPY', '/to/', { ...part, Destination: '/lock/' })).text,
      (await wire.dav('LOCK', '/lock/', { ...part, ...XML, Depth: 'infinity' }, lock)).text,
    ]
    const before = await refusals()
    const whole = { Authorization: basic(ANN.user, ANN.password), ...XML }
    expect((await wire.dav('LOCK', '/lock/secret.css', whole, lock)).status).to.equal(200)
    expect(await refusals()).to.deep.equal(before)
  })

  it('DAV-3 DAV-84 a lock on what the scope has lost is not kept alive from what it still opens', async () => {
    await put(wire.server, '/held/open.css', 'x')
    const [, , , body] = FORMS.find(([method]) => method === 'LOCK') ?? []
    const ann = { Authorization: basic(ANN.user, ANN.password), ...XML }
    const token = (await wire.dav('LOCK', '/held/', ann, body)).headers['lock-token']
    const refresh = () => wire.dav('LOCK', '/held/open.css', { Authorization: ann.Authorization, If: `(${token})` })
    expect((await refresh()).status).to.equal(200)
    await renew([{ ...ANN, scope: ['/held/open*'] }, PART])
    expect((await refresh()).status).to.equal(403)
    await renew([ANN, PART])
    expect((await refresh()).status).to.equal(200)
  })

  it('DAV-80 a lock on a collection needs all of it', async () => {
    await put(wire.server, '/locked/secret.css', 'secret')
    const [, , , body] = FORMS.find(([method]) => method === 'LOCK') ?? []
    const take = (Depth: string) =>
      wire.dav('LOCK', '/locked/', { Authorization: basic(PART.user, PART.password), ...XML, Depth }, body)
    expect(outcomeOf(await take('infinity'))).to.equal('403 Forbidden')
    expect((await take('0')).status).to.equal(200)
  })
})
