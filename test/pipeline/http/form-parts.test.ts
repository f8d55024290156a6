/** Forms that are taken apart while they arrive (RFC 7578). */

import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { Fault } from '../../../pipeline/fault.ts'
import { boundaryOf, contentBytes, eachPart, type FormPart } from '../../../pipeline/http/form-parts.ts'

const BOUNDARY = 'X-1'

async function* cut(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? bytes.length
    yield bytes.subarray(at, at + size)
    at += size
  }
}

async function parts(body: string | Buffer, sizes: readonly number[] = [1_000_000]): Promise<[FormPart, string][]> {
  const found: [FormPart, string][] = []
  await eachPart(cut(Buffer.from(body), sizes), BOUNDARY, async (part, content) => {
    const bytes = await contentBytes(content, 1_000_000, () => new Error('too long'))
    found.push([part, bytes.toString('latin1')])
  })
  return found
}

async function refused(body: string): Promise<string> {
  try {
    await parts(body, [7])
    return 'nothing'
  } catch (error) {
    return error instanceof Fault ? `${error.status} ${error.message}` : String(error)
  }
}

/** Content that looks like delimiters and heads, without being one. */
const content = fc
  .array(fc.constantFrom('\r', '\n', '-', '--', 'X', 'X-', '\r\n', '\r\n--', '\r\n--X-', '\r\n\r\n', 'a', '\u00ff'), {
    maxLength: 20,
  })
  .map(tokens => tokens.join(''))
  .filter(text => !`\r\n${text}\r\n`.includes(`\r\n--${BOUNDARY}`))

describe('forms that arrive in pieces', () => {
  it('DAV-40 finds the same parts wherever pieces end', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(content, { maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }),
        fc.constantFrom('', 'preamble\r\n', '\r\n'),
        async (contents, sizes, preamble) => {
          const written = contents.map(
            (text, i) =>
              `--${BOUNDARY} \r\nContent-Disposition: form-data; name="n"; filename="f${i}"\r\n\r\n${text}\r\n`,
          )
          const body = Buffer.from(`${preamble}${written.join('')}--${BOUNDARY}--\r\nepilogue`, 'latin1')
          const found = await parts(body, sizes)
          expect(found.map(([part, text]) => [part.filename, text])).to.deep.equal(
            contents.map((text, i) => [`f${i}`, text]),
          )
        },
      ),
    ))

  const HEADS: [head: string, part: FormPart][] = [
    ['Content-Disposition: form-data; name="do"', { name: 'do', filename: undefined, type: undefined }],
    [
      'content-type: text/css\r\ncontent-disposition: form-data; name=file; filename="C:\\\\a\\\\b.css"',
      { name: 'file', filename: 'b.css', type: 'text/css' },
    ],
    ['Content-Disposition: form-data; name="file"; filename=""', { name: 'file', filename: '', type: undefined }],
    ['X: y', { name: '', filename: undefined, type: undefined }],
  ]
  for (const [head, part] of HEADS)
    it(`DAV-40 reads a part's head ${JSON.stringify(head)}`, async () => {
      expect(await parts(`--${BOUNDARY}\r\n${head}\r\n\r\nx\r\n--${BOUNDARY}--`, [3])).to.deep.equal([[part, 'x']])
    })

  it('DAV-40 reads a part without any head', async () => {
    expect((await parts(`--${BOUNDARY}\r\n\r\nx\r\n--${BOUNDARY}--`, [1])).map(([, text]) => text)).to.deep.equal(['x'])
  })

  const MALFORMED: [what: string, body: string, outcome: string][] = [
    ['nothing', '', '400 The form ends before its last part.'],
    ['no last delimiter', `--${BOUNDARY}\r\n\r\nabc`, '400 The form ends before its last part.'],
    ['an end within a head', `--${BOUNDARY}\r\nContent-`, '400 The form ends before its last part.'],
    ['an endless head', `--${BOUNDARY}\r\n${'x'.repeat(9000)}`, '400 The form has a part whose head is too long.'],
    ['too many parts', `--${BOUNDARY}\r\n\r\n\r\n`.repeat(10_002), '400 The form has more than 10000 parts.'],
  ]
  for (const [what, body, outcome] of MALFORMED)
    it(`DAV-40 refuses a form with ${what}`, async () => {
      expect(await refused(body)).to.equal(outcome)
    })

  it('DAV-40 holds one piece at a time, however long a part is', async () => {
    const piece = Buffer.alloc(64 * 1024, '\r\n--X')
    async function* long() {
      yield Buffer.from(`--${BOUNDARY}\r\n\r\n`)
      for (let i = 0; i < 200; i++) yield piece
      yield Buffer.from(`\r\n--${BOUNDARY}--`)
    }
    let size = 0
    let longest = 0
    await eachPart(long(), BOUNDARY, async (_part, pieces) => {
      for await (const each of pieces) {
        size += each.length
        longest = Math.max(longest, each.length)
      }
    })
    expect(size).to.equal(200 * piece.length)
    expect(longest).to.be.below(piece.length + 100)
  })

  it('DAV-40 takes boundaries of multipart/form-data alone', () => {
    expect(boundaryOf('multipart/form-data; boundary="a b"')).to.equal('a b')
    expect(boundaryOf('Multipart/Form-Data; charset=x; boundary=ab')).to.equal('ab')
    expect(boundaryOf('multipart/mixed; boundary=ab')).to.equal(undefined)
    expect(boundaryOf('multipart/form-data')).to.equal(undefined)
  })
})
