import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client, connect, requestBytes } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

describe('HTTPS', () => {
  let folder: string
  let tls: { cert: string; key: string }
  let server: TestServer
  let https: Client

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'scriptorium-tls-'))
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-days',
        '2',
        '-subj',
        '/CN=localhost',
        '-keyout',
        key,
        '-out',
        cert,
      ],
      { stdio: 'ignore' },
    )
    tls = { cert, key }
    server = await startServer({ settings: { tls } })
    https = client({ port: server.port, tls: true, serverName: 'localhost' })
    await putAll(server, {
      '/page.html': page('<p>x</p>'),
      '/style.css': 'p{}',
      '/rules.html': rulesPage(['*', 'PUT', 'Allow', '/w/*']),
    })
  })
  after(async () => {
    await server.close()
    rmSync(folder, { recursive: true })
  })

  it('reads and writes', async () => {
    expect(server.url).to.match(/^https:\/\/localhost:\d+$/)
    expect((await https('GET', '/page.html')).text).to.include('<p>x</p>')
    expect((await https('PUT', '/w/x.txt', {}, 'x')).status).to.equal(201)
    expect((await https('GET', '/w/x.txt')).text).to.equal('x')
  })

  it('HTTP-160 Strict-Transport-Security on every response, kept ones and errors included', async () => {
    for (const target of ['/page.html', '/page.html', '/page.html', '/style.css', '/style.css', '/none.html', '/%zz'])
      expect((await https('GET', target)).headers['strict-transport-security'], target).to.equal('max-age=31536000')
    const connection = await connect({ port: server.port, tls: true })
    connection.send('nonsense\r\n\r\n')
    const { status, headers } = await connection.receive()
    expect(status).to.equal(400)
    expect(headers['strict-transport-security']).to.equal('max-age=31536000')
    connection.close()
  })

  it('SSN-2 the cookie is Secure', async () => {
    for (let i = 0; i < 3; i++)
      expect((await https('GET', '/page.html')).headers['set-cookie']?.split('; ')).to.include('Secure')
  })

  it('HTTP-167 the own origin is https', async () => {
    const Cookie = /^[^;]+/.exec((await https('GET', '/page.html')).headers['set-cookie'] ?? '')?.[0]
    const sessionOf = async (Origin?: string) => {
      await https('PUT', '/w/x.txt', { Cookie, Origin }, 'x')
      return (await server.site.store.allEvents(undefined, 1000)).at(-1)?.session
    }
    const own = await sessionOf()
    expect(await sessionOf(`https://localhost:${server.port}`)).to.equal(own)
    expect(await sessionOf(`http://localhost:${server.port}`)).not.to.equal(own)
  })

  it('plain HTTP on this port gets no page', async () => {
    const connection = await connect(server.port)
    connection.send(requestBytes('GET', '/page.html'))
    await connection.ended
    const answer = await connection.receive().catch((error: unknown) => String(error))
    expect(JSON.stringify(answer)).not.to.include('<p>x</p>')
    connection.close()
  })

  it('HTTP-181 who never comes to speak of keys is waited for no longer than for a head', async () => {
    const impatient = await startServer({ settings: { tls, limits: { headerWait: '1s' } } })
    try {
      const silent = await connect(impatient.port)
      const begun = await connect(impatient.port)
      begun.send(Buffer.from('16030100c8010000c40303', 'hex'))
      const late = setTimeout(60_000, 'late', { ref: false })
      expect(await Promise.race([Promise.all([silent.ended, begun.ended]), late])).not.to.equal('late')
    } finally {
      await impatient.close()
    }
  })

  it('versions of TLS that were given up are refused', async () => {
    const versions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
    const socket = connectTls({ port: server.port, rejectUnauthorized: false, ...versions })
    const code = await new Promise(resolve => {
      socket.once('secureConnect', () => resolve('spoken'))
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
    })
    socket.destroy()
    expect(code, 'by the server').to.equal('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION')
  })

  it('several requests go over one connection', async () => {
    const connection = await connect({ port: server.port, tls: true })
    for (let i = 0; i < 3; i++) {
      connection.send(requestBytes('GET', '/page.html'))
      expect((await connection.receive()).status).to.equal(200)
    }
    connection.close()
  })

  it('repeated answers of several connections do not mix', async () => {
    const bodies = ['a', 'b'].map(letter => letter.repeat(40_000))
    await putAll(server, { '/a.txt': bodies[0] ?? '', '/b.txt': bodies[1] ?? '' })
    const asking = [0, 1, 2, 3].map(async i => {
      const connection = await connect({ port: server.port, tls: true })
      for (let round = 0; round < 8; round++) connection.send(requestBytes('GET', i % 2 ? '/b.txt' : '/a.txt'))
      for (let round = 0; round < 8; round++) {
        const { status, text } = await connection.receive()
        expect({ status, isSame: text === bodies[i % 2] }).to.deep.equal({ status: 200, isSame: true })
      }
      connection.close()
    })
    await Promise.all(asking)
  })
})
