import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { type Part, writeByteranges, writeMultipart, writingMultipart } from '../../../pipeline/http/multipart.ts'
import { PIECE } from '../../../pipeline/tree/document.ts'
import { RUNS } from './seed.ts'

/** Takes a body apart by RFC 2046, as strictly as a reader may. */
function readMultipart(contentType: string, body: Buffer): { headers: string[]; content: Buffer }[] {
  const boundary = /^multipart\/[a-z]+; boundary=([A-Za-z0-9]{1,70})$/.exec(contentType)?.[1]
  expect(boundary, contentType).to.be.a('string')
  const open = Buffer.from(`--${boundary}\r\n`)
  const close = Buffer.from(`--${boundary}--\r\n`)
  const parts: { headers: string[]; content: Buffer }[] = []
  let at = 0
  while (!body.subarray(at).equals(close)) {
    expect(body.subarray(at, at + open.length).toString('latin1')).to.equal(open.toString('latin1'))
    const end = body.indexOf(`\r\n--${boundary}`, at + open.length)
    expect(end).to.be.above(0)
    const part = body.subarray(at + open.length, end)
    const blank = part.subarray(0, 2).toString() === '\r\n' ? -2 : part.indexOf('\r\n\r\n')
    const head = blank < 0 ? '' : part.subarray(0, blank).toString()
    parts.push({ headers: head === '' ? [] : head.split('\r\n'), content: part.subarray(blank + 4) })
    at = end + 2
  }
  return parts
}

describe('multipart', () => {
  it('HTTP-66 the exact form', () => {
    const { contentType, body } = writeMultipart(
      [
        { headers: { 'Content-Type': 'text/html', 'Content-Range': 'selector=#b' }, content: '<b id="b">é</b>' },
        { headers: { ETag: '"x"' }, content: '\0\r\n\xff' },
      ],
      'b7Qm',
    )
    expect(contentType).to.equal('multipart/mixed; boundary=b7Qm')
    expect(body.toString('latin1')).to.equal(
      [
        '--b7Qm',
        'Content-Type: text/html',
        'Content-Range: selector=#b',
        'Content-Length: 16',
        '',
        Buffer.from('<b id="b">é</b>').toString('latin1'),
        '--b7Qm',
        'ETag: "x"',
        'Content-Length: 5',
        '',
        '\0\r\n\xc3\xbf',
        '--b7Qm--',
        '',
      ].join('\r\n'),
    )
  })

  it('HTTP-66 no parts', () => {
    const { body } = writeMultipart([], 'B')
    expect(body.toString()).to.equal('--B--\r\n')
    const { contentType } = writeMultipart([])
    expect(contentType).to.match(/^multipart\/mixed; boundary=[0-9a-z]{1,70}$/)
  })

  it('HTTP-122 parts of headers only are empty below them', () => {
    const { body } = writeMultipart([{ headers: { Allow: 'GET, OPTIONS' } }], 'kq81Zr')
    expect(body.toString()).to.equal('--kq81Zr\r\nAllow: GET, OPTIONS\r\n\r\n\r\n--kq81Zr--\r\n')
  })

  it('HTTP-66 a boundary that occurs in a part is replaced', () => {
    const parts: Part[] = [
      { headers: {}, content: 'text B0undary text' },
      { headers: { 'Content-Range': 'selector=#B0undary' }, content: '' },
    ]
    for (const part of parts) {
      const { contentType, body } = writeMultipart([part], 'B0undary')
      expect(contentType).not.to.include('B0undary')
      expect(readMultipart(contentType, body)).to.have.length(1)
    }
  })

  it('HTTP-30 the same parts give the same bytes, other parts another boundary', () => {
    const parts = [{ headers: {}, content: 'a' }]
    expect(writeMultipart(parts)).to.deep.equal(writeMultipart(parts))
    expect(writeMultipart(parts).contentType).not.to.equal(writeMultipart([{ headers: {}, content: 'b' }]).contentType)
  })

  it('HTTP-66 many parts are written in steps, and leave in pieces', () => {
    const content = '€'.repeat(60)
    const parts: Part[] = Array.from({ length: 5_000 }, (_, i) => ({ headers: { ETag: `"${i}"` }, content }))
    const work = writingMultipart(parts)
    let steps = 0
    let step = work.next()
    for (; !step.done; step = work.next()) steps++
    const { contentType, body } = step.value
    const whole = Buffer.concat(body.pieces)
    expect(steps).to.be.above(50)
    expect(body.pieces.length).to.be.above(5)
    expect(body.size).to.equal(whole.length)
    expect(readMultipart(contentType, whole)).to.deep.equal(
      parts.map(({ headers }) => ({
        headers: [`ETag: ${headers.ETag}`, `Content-Length: ${Buffer.byteLength(content)}`],
        content: Buffer.from(content),
      })),
    )
  })

  it('SEC-12 HTTP-66 a long part is read a piece at a time, also to look for the boundary in it', () => {
    const text = `${'a€'.repeat(PIECE)}B0undaryaaaa${'€'.repeat(PIECE)}`
    let longest = 0
    const slice = (start: number, end = text.length) => {
      longest = Math.max(longest, Math.min(end, text.length) - start)
      return text.slice(start, end)
    }
    const content = { length: text.length, slice }
    for (const boundary of ['B0undaryaaaa', 'B0undaryaaab', undefined]) {
      longest = 0
      const work = writingMultipart([{ headers: { ETag: '"a"' }, content }], boundary)
      let steps = 0
      let step = work.next()
      for (; !step.done; step = work.next()) steps++
      expect(steps).to.be.at.least(10)
      expect(longest).to.be.at.most(PIECE + 1)
      const whole = writeMultipart([{ headers: { ETag: '"a"' }, content: text }], boundary)
      expect(step.value.contentType).to.equal(whole.contentType)
      expect(step.value.contentType.endsWith('B0undaryaaaa')).to.equal(false)
      expect(Buffer.compare(Buffer.concat(step.value.body.pieces), whole.body)).to.equal(0)
    }
  })

  it('HTTP-67 a header value cannot begin another line', () => {
    const { contentType, body } = writeMultipart([{ headers: { 'Content-Location': '/a\r\nX: y\n\0' }, content: '' }])
    expect(readMultipart(contentType, body)[0]?.headers).to.deep.equal([
      'Content-Location: /a  X: y  ',
      'Content-Length: 0',
    ])
  })

  it('HTTP-66 any parts are read back', () => {
    const value = fc.string({ unit: fc.constantFrom(...'ab;=é> ') }).map(text => text.trim())
    const content = fc.string({ unit: fc.constantFrom('-', '\r', '\n', 'a', 'é', '😀') })
    const part = fc.record({ headers: fc.record({ 'Content-Range': value }), content })
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), parts => {
        const { contentType, body } = writeMultipart(parts satisfies Part[])
        expect(readMultipart(contentType, body)).to.deep.equal(
          parts.map(({ headers, content }) => ({
            headers: [`Content-Range: ${headers['Content-Range']}`, `Content-Length: ${Buffer.byteLength(content)}`],
            content: Buffer.from(content),
          })),
        )
      }),
      RUNS,
    )
  })

  it('HTTP-58 several byte ranges, laid out without the bytes', () => {
    const file = Buffer.from('0123456789')
    const ranges = [
      { first: 0, last: 1 },
      { first: 9, last: 9 },
    ]
    const { contentType, size, pieces } = writeByteranges('text/plain; charset=x', ranges, file.length, '"t"')
    const body = Buffer.concat(
      pieces.map(piece => (piece instanceof Uint8Array ? piece : file.subarray(piece.first, piece.last + 1))),
    )
    expect(body.length).to.equal(size)
    expect(readMultipart(contentType, body)).to.deep.equal([
      {
        headers: ['Content-Type: text/plain; charset=x', 'Content-Range: bytes 0-1/10'],
        content: Buffer.from('01'),
      },
      { headers: ['Content-Type: text/plain; charset=x', 'Content-Range: bytes 9-9/10'], content: Buffer.from('9') },
    ])
    expect(contentType).to.match(/^multipart\/byteranges; boundary=/)
    expect(writeByteranges('text/plain', ranges, 10, '"u"').contentType).not.to.equal(contentType)
  })
})
