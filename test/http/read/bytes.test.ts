import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, putAll } from '../../support/content.ts'
import { type Client, client, type Fields, tagOf } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const SMALL = Buffer.from('0123456789')
/** Larger than what a store keeps in memory, so that it is streamed from a file. */
const LARGE = Buffer.alloc(3 * 1024 * 1024)
for (let i = 0; i < LARGE.length; i += 4) LARGE.writeUInt32BE(i, i)

describe('byte ranges', () => {
  let server: TestServer
  let http: Client
  const bytes = (range: string, fields: Fields = {}, target = '/small.bin') =>
    http('GET', target, { Range: `bytes=${range}`, ...fields })

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await putAll(server, {
      '/small.bin': SMALL,
      '/large.bin': LARGE,
      '/empty.bin': '',
      '/page.html': page('<p>x</p>'),
      '/long.txt': 'words that compress well '.repeat(200),
    })
  })
  after(() => server.close())

  const single: [range: string, contentRange: string, content: string][] = [
    ['0-0', 'bytes 0-0/10', '0'],
    ['2-5', 'bytes 2-5/10', '2345'],
    ['0-', 'bytes 0-9/10', '0123456789'],
    ['7-', 'bytes 7-9/10', '789'],
    ['7-99', 'bytes 7-9/10', '789'],
    ['-3', 'bytes 7-9/10', '789'],
    ['-99', 'bytes 0-9/10', '0123456789'],
    ['9-9', 'bytes 9-9/10', '9'],
    ['12-, 3-4', 'bytes 3-4/10', '34'],
    [' 1-2 , ', 'bytes 1-2/10', '12'],
  ]
  for (const [range, contentRange, content] of single) {
    it(`HTTP-58 bytes=${range}`, async () => {
      const { status, headers, text } = await bytes(range)
      expect({ status, text }).to.deep.equal({ status: 206, text: content })
      expect(headers['content-range']).to.equal(contentRange)
      expect(headers['content-length']).to.equal(String(content.length))
      expect(headers.etag).to.equal(tagOf(await http('GET', '/small.bin')))
      expect(headers['content-type']).to.equal('application/octet-stream')
    })
  }

  it('HTTP-45 the unit in any case', async () => {
    expect((await http('GET', '/small.bin', { Range: 'Bytes=0-1' })).text).to.equal('01')
  })

  for (const range of ['10-', '10-20', '99-', '-0', '10-, 20-']) {
    it(`HTTP-58 none satisfiable is 416: bytes=${range}`, async () => {
      const { status, headers } = await bytes(range)
      expect(status).to.equal(416)
      expect(headers['content-range']).to.equal('bytes */10')
      expect(headers).not.to.have.property('etag')
    })
  }

  for (const range of ['', 'x', '1', '5-2', 'a-b', '1-2-3', '1-2, x', '-', '--1', '0x1-2', '1-2;x']) {
    it(`HTTP-58 malformed is ignored: bytes=${range}`, async () => {
      const { status, text, headers } = await bytes(range)
      expect({ status, text }).to.deep.equal({ status: 200, text: '0123456789' })
      expect(headers).not.to.have.property('content-range')
    })
  }

  it('HTTP-58 several ranges come as multipart/byteranges', async () => {
    const { status, headers, text } = await bytes('0-1, 8-')
    expect(status).to.equal(206)
    expect(headers).not.to.have.property('content-range')
    const boundary = /^multipart\/byteranges; boundary=([A-Za-z0-9]+)$/.exec(headers['content-type'] ?? '')?.[1]
    expect(text).to.equal(
      [
        `--${boundary}`,
        'Content-Type: application/octet-stream',
        'Content-Range: bytes 0-1/10',
        '',
        '01',
        `--${boundary}`,
        'Content-Type: application/octet-stream',
        'Content-Range: bytes 8-9/10',
        '',
        '89',
        `--${boundary}--`,
        '',
      ].join('\r\n'),
    )
    expect(headers['content-length']).to.equal(String(text.length))
  })

  it('HTTP-58 more ranges than sense, or more bytes than the whole: 200', async () => {
    expect((await bytes('0-9, 0-9')).status).to.equal(200)
    const many = Array.from({ length: 40 }, (_, i) => `${i * 10}-${i * 10}`).join(',')
    expect((await bytes(many, {}, '/large.bin')).status).to.equal(200)
  })

  it('HTTP-58 an empty blob has no byte to send', async () => {
    expect((await http('GET', '/empty.bin')).status).to.equal(200)
    const { status, headers } = await bytes('0-', {}, '/empty.bin')
    expect(status).to.equal(416)
    expect(headers['content-range']).to.equal('bytes */0')
  })

  it('HTTP-56 HEAD of a range', async () => {
    const { status, headers, body } = await http('HEAD', '/small.bin', { Range: 'bytes=2-5' })
    expect(status).to.equal(206)
    expect(headers).to.include({ 'content-range': 'bytes 2-5/10', 'content-length': '4' })
    expect(body.length).to.equal(0)
  })

  describe('HTTP-58 If-Range', () => {
    it('the current strong tag, or the exact date, keeps the range', async () => {
      const whole = await http('GET', '/small.bin')
      for (const value of [tagOf(whole), whole.headers['last-modified']])
        expect((await bytes('0-1', { 'If-Range': value })).status, value).to.equal(206)
    })

    it('anything else gives the whole', async () => {
      const whole = await http('GET', '/small.bin')
      const later = new Date(Date.parse(whole.headers['last-modified'] ?? '') + 1000).toUTCString()
      for (const value of ['"x"', `W/${tagOf(whole)}`, 'Sun, 06 Nov 1994 08:49:37 GMT', later, 'x', '*']) {
        const { status, text } = await bytes('0-1', { 'If-Range': value })
        expect({ status, text }, value).to.deep.equal({ status: 200, text: '0123456789' })
      }
    })

    it('it does not make an unsatisfiable range whole', async () => {
      const whole = await http('GET', '/small.bin')
      expect((await bytes('99-', { 'If-Range': tagOf(whole) })).status).to.equal(416)
      expect((await bytes('99-', { 'If-Range': '"x"' })).status).to.equal(200)
    })
  })

  it('HTTP-36 conditions come before ranges', async () => {
    const whole = await http('GET', '/small.bin')
    expect((await bytes('99-', { 'If-None-Match': tagOf(whole) })).status).to.equal(304)
    expect((await bytes('99-', { 'If-Match': '"x"' })).status).to.equal(412)
  })

  it('HTTP-58 on a document they are those of the bytes a GET without Range would send', async () => {
    const whole = await http('GET', '/page.html')
    const { status, headers, body } = await bytes('9-20', {}, '/page.html')
    expect(status).to.equal(206)
    expect(body.equals(whole.body.subarray(9, 21))).to.equal(true)
    expect(headers['content-range']).to.equal(`bytes 9-20/${whole.body.length}`)
    expect(headers.etag).to.equal(tagOf(whole))
    expect(headers['content-type']).to.equal('text/html; charset=utf-8')
  })

  it('HTTP-58 a range of a compressible resource is one of its plain bytes, with their tag', async () => {
    const plain = await http('GET', '/long.txt')
    const { status, headers, body } = await bytes('5-9', { 'Accept-Encoding': 'br, gzip' }, '/long.txt')
    expect(status).to.equal(206)
    expect(headers).not.to.have.property('content-encoding')
    expect(body.equals(plain.body.subarray(5, 10))).to.equal(true)
    expect(headers.etag).to.equal(tagOf(plain))
  })

  describe('HTTP-182 large blobs', () => {
    it('whole', async () => {
      const { body, headers } = await http('GET', '/large.bin')
      expect(headers['content-length']).to.equal(String(LARGE.length))
      expect(body.equals(LARGE)).to.equal(true)
    })

    for (const [range, from, to] of [
      ['0-99', 0, 100],
      ['1000001-1999999', 1000001, 2000000],
      ['-7', LARGE.length - 7, LARGE.length],
    ] as const) {
      it(`bytes=${range}`, async () => {
        const { status, body } = await bytes(range, {}, '/large.bin')
        expect(status).to.equal(206)
        expect(body.equals(LARGE.subarray(from, to))).to.equal(true)
      })
    }

    it('several ranges', async () => {
      const { headers, body } = await bytes('0-3, 300000-600000, -4', {}, '/large.bin')
      expect(headers['content-length']).to.equal(String(body.length))
      expect(body.includes(LARGE.subarray(300000, 600001))).to.equal(true)
    })

    it('a download that began goes on with the bytes it began with', async () => {
      await put(server, '/swap.bin', LARGE)
      const started = http('GET', '/swap.bin')
      const [received] = await Promise.all([started, put(server, '/swap.bin', 'short')])
      expect(received.body.equals(LARGE) || received.text === 'short').to.equal(true)
      expect((await http('GET', '/swap.bin')).text).to.equal('short')
    })
  })
})
