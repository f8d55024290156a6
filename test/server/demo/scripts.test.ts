import { expect } from 'chai'

interface Part {
  headers: Map<string, string>
  body: string
}
// The scripts of the site are plain browser modules without types; this one needs no browser.
const script = new URL('../../../server/demo/site/scripts/multipart.mjs', import.meta.url)
const { parts } = (await import(script.href)) as { parts(contentType: string, text: string): Part[] }

const read = (contentType: string, text: string) =>
  parts(contentType, text).map(({ headers, body }) => ({ ...Object.fromEntries(headers), body }))

describe('Demo site, multipart reader', () => {
  const type = 'multipart/mixed; boundary=b7Qm'

  it('CAP-8 reads parts that are all headers', () => {
    const text =
      '--b7Qm\r\nAllow: GET, OPTIONS\r\n\r\n--b7Qm\r\nContent-Range: selector=#entries > li\r\nAllow: PUT\r\n\r\n--b7Qm--\r\n'
    expect(read(type, text)).to.deep.equal([
      { allow: 'GET, OPTIONS', body: '' },
      { 'content-range': 'selector=#entries > li', allow: 'PUT', body: '' },
    ])
  })

  it('HTTP-66 reads bodies, and leaves their own line breaks alone', () => {
    const text = '--b7Qm\r\nETag: "1"\r\n\r\n<li>\r\n\r\n--b7</li>\r\n--b7Qm\r\n\r\n<li></li>\r\n--b7Qm--\r\n'
    expect(read(type, text)).to.deep.equal([{ etag: '"1"', body: '<li>\r\n\r\n--b7</li>' }, { body: '<li></li>' }])
  })

  for (const [name, contentType, text, count] of [
    ['no parts', type, '--b7Qm--\r\n', 0],
    ['a quoted boundary', 'multipart/mixed; boundary="b7Qm"', '--b7Qm\r\n\r\nx\r\n--b7Qm--\r\n', 1],
    ['a preamble and an epilogue', type, 'so\r\n--b7Qm\r\n\r\nx\r\n--b7Qm--\r\nbye', 1],
    ['no boundary', 'multipart/mixed', '--b7Qm\r\n\r\nx\r\n--b7Qm--', 0],
  ] as const) {
    it(`copes with ${name}`, () => expect(parts(contentType, text)).to.have.length(count))
  }
})
