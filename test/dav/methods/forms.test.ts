import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { parseXml } from '../../../pipeline/tree/xml.ts'
import type { Received } from '../../support/http.ts'
import { basic, changesNothing, outcomeOf, startWire, type Wire } from '../wire.ts'

describe('forms of listings', () => {
  let wire: Wire
  let own: Record<string, string>

  before(async () => {
    wire = await startWire({
      site: { maxDocument: '1MiB', maxBody: '4MiB' },
      settings: {
        sites: [
          {
            host: 'localhost',
            credentials: [
              { user: 'editor', password: 'a known password' },
              { user: 'reader', password: 'pw', write: false },
              { user: 'part', password: 'pw', scope: ['/f/', '/f/p*'], write: true },
            ],
          },
        ],
      },
    })
    own = { Origin: wire.server.mountUrl }
    await wire.dav('MKCOL', '/f')
    await wire.dav('PUT', '/f/page.html', { 'Content-Type': 'text/html' }, '<!DOCTYPE html><title>x</title>')
  })
  after(() => wire?.server.close())

  const FORM = 'application/x-www-form-urlencoded'
  const post = (fields: Record<string, string>, more: Record<string, string> = own, path = '/f/'): Promise<Received> =>
    wire.dav('POST', path, { 'Content-Type': FORM, ...more }, new URLSearchParams(fields).toString())

  function send(
    files: [name: string, content: string][],
    fields: Record<string, string>,
    more: Record<string, string> = own,
  ): Promise<Received> {
    const parts = [
      ...Object.entries(fields).map(([name, value]) => `form-data; name="${name}"\r\n\r\n${value}`),
      ...files.map(
        ([name, text]) =>
          `form-data; name="file"; filename="${name}"\r\nContent-Type: ${name.endsWith('.xml') ? 'text/xml' : 'text/plain'}\r\n\r\n${text}`,
      ),
    ]
    const body = `${parts.map(part => `--XX\r\nContent-Disposition: ${part}\r\n`).join('')}--XX--\r\n`
    return wire.dav('POST', '/f/', { 'Content-Type': 'multipart/form-data; boundary=XX', ...more }, body)
  }

  it('DAV-40 makes a folder, renames and deletes, and leads back', async () => {
    const made = await post({ do: 'folder', name: 'a & b' })
    expect([made.status, made.headers.location]).to.deep.equal([303, '/f/?done=folder'])
    expect((await wire.dav('PROPFIND', '/f/a%20%26%20b/', { Depth: '0' })).status).to.equal(207)
    expect((await post({ do: 'rename', member: 'a & b/', name: 'c' })).status).to.equal(303)
    expect((await wire.dav('PROPFIND', '/f/c/', { Depth: '0' })).status).to.equal(207)
    expect((await post({ do: 'delete', member: 'c/', sure: 'yes' })).status).to.equal(303)
    expect((await wire.dav('PROPFIND', '/f/c/', { Depth: '0' })).status).to.equal(404)
  })

  it('DAV-40 the listing says what a form has done, and wants a tick before it deletes', async () => {
    const made = await post({ do: 'folder', name: 'said' })
    const shown = await wire.dav('GET', made.headers.location ?? '', { Accept: 'text/html' })
    expect(shown.text).to.include('<p class="card done" role="status">The folder is there.</p>')
    expect(shown.text).to.match(
      /<input type="checkbox" name="sure" value="yes" required> Yes, delete it with all in it/,
    )
    for (const other of ['', '?done=', '?done=%3Cb%3E', '?done=constructor'])
      expect((await wire.dav('GET', `/f/${other}`, { Accept: 'text/html' })).text).not.to.include('role="status"')
    const gone = await post({ do: 'delete', member: 'said/', sure: 'yes' })
    expect((await wire.dav('GET', gone.headers.location ?? '', {})).text).to.include('>Deleted.</p>')
  })

  it('DAV-40 stores files byte for byte, and replaces none unless told', async () => {
    const text = '\r\n--X\r\n\u00e9--XX \r\n'
    expect(
      (
        await send(
          [
            ['C:\\\\x\\\\one.txt', text],
            ['two.txt', ''],
          ],
          { do: 'upload' },
        )
      ).status,
    ).to.equal(303)
    expect((await wire.dav('GET', '/f/one.txt')).text).to.equal(text)
    expect((await wire.dav('GET', '/f/two.txt')).status).to.equal(200)
    const again = await changesNothing(wire.server, () =>
      send(
        [
          ['new.txt', 'x'],
          ['one.txt', 'y'],
        ],
        { do: 'upload' },
      ),
    )
    expect(outcomeOf(again)).to.equal('412 PreconditionFailed')
    expect((await send([['one.txt', 'y']], { do: 'upload', replace: 'yes' })).status).to.equal(303)
    expect((await wire.dav('GET', '/f/one.txt')).text).to.equal('y')
  })

  it('DAV-40 DAV-8 nothing of a form is stored where a file of it cannot be', async () => {
    const lockinfo =
      '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>'
    await wire.dav('MKCOL', '/f/taken')
    await wire.dav('PUT', '/f/locked.txt', {}, 'x')
    const lock = await wire.dav('LOCK', '/f/locked.txt', {}, lockinfo)
    for (const [outcome, ...names] of [
      ['400 BadRequest', 'twice.txt', 'twice.txt'],
      ['400 BadRequest', 'caf\u00e9.txt', 'cafe\u0301.txt'],
      ['405 MethodNotAllowed', 'first.txt', 'taken'],
      ['423 Locked', 'first.txt', 'locked.txt'],
    ]) {
      const files = names.map((name): [string, string] => [name, 'y'])
      const refused = await changesNothing(wire.server, () => send(files, { do: 'upload', replace: 'yes' }))
      expect(outcomeOf(refused), names.join()).to.equal(outcome)
    }
    const Authorization = basic('part', 'pw')
    const two: [string, string][] = [
      ['p.txt', 'y'],
      ['q.txt', 'y'],
    ]
    const partly = await changesNothing(wire.server, () => send(two, { do: 'upload' }, { ...own, Authorization }))
    expect(outcomeOf(partly)).to.equal('403 Forbidden')
    await wire.dav('UNLOCK', '/f/locked.txt', { 'Lock-Token': lock.headers['lock-token'] })
  })

  it('DAV-40 a file that is refused after others were stored is told with them', async () => {
    const files: [string, string][] = [
      ['before.txt', 'x'],
      ['broken.xml', '<a>'],
      ['after.txt', 'x'],
    ]
    const broken = await send(files, { do: 'upload' })
    expect(outcomeOf(broken)).to.match(/^422 /)
    expect(broken.text).to.include('broken.xml').and.to.include('Stored before it: before.txt.')
    expect((await wire.dav('GET', '/f/before.txt')).status).to.equal(200)
    expect((await wire.dav('GET', '/f/after.txt')).status).to.equal(404)
  })

  const REFUSED: [what: string, outcome: string, fields: Record<string, string>, more?: Record<string, string>][] = [
    [
      'another site',
      '403 Forbidden',
      { do: 'delete', member: 'page.html', sure: 'yes' },
      { Origin: 'https://evil.example' },
    ],
    ['a sandboxed page', '403 Forbidden', { do: 'delete', member: 'page.html', sure: 'yes' }, { Origin: 'null' }],
    ['nobody knows whom', '403 Forbidden', { do: 'delete', member: 'page.html', sure: 'yes' }, {}],
    [
      'a page beside',
      '403 Forbidden',
      { do: 'delete', member: 'page.html', sure: 'yes' },
      { 'Sec-Fetch-Site': 'same-site' },
    ],
    ['a name with a slash', '400 InvalidPath', { do: 'rename', member: 'page.html', name: 'a/b' }],
    ['the folder itself', '400 InvalidPath', { do: 'delete', member: '', sure: 'yes' }],
    ['the folder above', '400 InvalidPath', { do: 'delete', member: '..', sure: 'yes' }],
    ['a deletion without its tick', '400 BadRequest', { do: 'delete', member: 'page.html' }],
    ['a deletion with another tick', '400 BadRequest', { do: 'delete', member: 'page.html', sure: 'no' }],
    ['what is not there', '404 NotFound', { do: 'delete', member: 'nothing', sure: 'yes' }],
    ['a folder of a file\u2019s name', '405 MethodNotAllowed', { do: 'folder', name: 'page.html' }],
    ['no form of a listing', '422 InvalidFragment', { do: 'x' }],
  ]
  for (const [what, outcome, fields, more] of REFUSED)
    it(`DAV-40 changes nothing for ${what}`, async () => {
      expect(outcomeOf(await changesNothing(wire.server, () => post(fields, more)))).to.equal(outcome)
    })

  const PAGES = `<!DOCTYPE html><title>x</title>${'x'.repeat(600 * 1024)}`

  it('DAV-40 streams files that are larger than any document', async () => {
    const large = '\r\n--X'.repeat(500 * 1024)
    expect((await send([['large.bin', large]], { do: 'upload' })).status).to.equal(303)
    expect((await wire.dav('GET', '/f/large.bin')).text === large).to.equal(true)
    const two: [string, string][] = [
      ['p.html', PAGES],
      ['q.html', PAGES],
    ]
    const refused = await changesNothing(wire.server, () => send(two, { do: 'upload' }))
    expect(outcomeOf(refused)).to.equal('413 PayloadTooLarge')
    const over = await changesNothing(wire.server, () => send([['over.bin', large + large]], { do: 'upload' }))
    expect(outcomeOf(over)).to.equal('413 PayloadTooLarge')
  })

  const TYPES: [type: string, outcome: string, shown?: string][] = [
    ['application/x-\u0436', '303', 'application/x-\u0436'],
    ['application/x; name="\u00e9\u65e5"', '303', 'application/x; name="\u00e9\u65e5"'],
    ['application/x\u0001', '400 BadRequest'],
    ['application/x\u007f', '400 BadRequest'],
  ]
  for (const [type, outcome, shown] of TYPES)
    it(`DAV-40 HTTP-20 a file of the type ${JSON.stringify(type)} can be read, or is not stored`, async () => {
      const part = (name: string, more: string) => `--XX\r\nContent-Disposition: form-data; name="${name}"${more}`
      const body = `${part('do', '\r\n\r\nupload')}\r\n${part('file', `; filename="typed.bin"\r\nContent-Type: ${type}\r\n\r\nx`)}\r\n--XX--\r\n`
      const answer = await wire.dav('POST', '/f/', { 'Content-Type': 'multipart/form-data; boundary=XX', ...own }, body)
      expect(outcomeOf(answer)).to.equal(outcome)
      const { status, headers } = await wire.dav('GET', '/f/typed.bin')
      expect(status).to.equal(shown === undefined ? 404 : 200)
      if (shown !== undefined) expect(Buffer.from(headers['content-type'] ?? '', 'latin1').toString()).to.equal(shown)
      await wire.dav('DELETE', '/f/typed.bin')
    })

  it('SEC-12 many empty files are counted without a listener for each', async () => {
    const warnings: string[] = []
    const note = ({ message }: Error) => warnings.push(message)
    process.on('warning', note)
    const empty = Array.from({ length: 30 }, (_, i): [string, string] => [`empty${i}.html`, ''])
    expect((await send(empty, { do: 'upload' })).status).to.equal(303)
    await new Promise(setImmediate)
    process.off('warning', note)
    expect(warnings.filter(text => text.includes('close listeners'))).to.deep.equal([])
  })

  it('DAV-40 a form that ends within a file stores nothing and leaves nothing behind', async () => {
    const head = '--XX\r\nContent-Disposition: form-data; name="file"; filename="cut.bin"\r\n\r\n'
    const type = { 'Content-Type': 'multipart/form-data; boundary=XX', ...own }
    const refused = await changesNothing(wire.server, () =>
      wire.dav('POST', '/f/', type, head + 'x'.repeat(400 * 1024)),
    )
    expect(outcomeOf(refused)).to.equal('400 BadRequest')
  })

  it('DAV-100 pages about failures lead people in a browser back to the files', async () => {
    const html = { Accept: 'text/html,*/*;q=0.8' }
    expect((await wire.dav('GET', '/f/none.html', html)).text).to.include('<a href="/">Go to all files</a>')
    const refused = await post({ do: 'delete', member: 'page.html' }, { ...own, ...html })
    expect(refused.text).to.include('<a href="/f/">Back to the folder</a>')
    expect((await wire.dav('GET', '/f/none.html', { Accept: '*/*' })).text).not.to.include('<a ')
    expect((await wire.stranger('GET', '/f/none.html', html)).text).not.to.include('<a ')
  })

  it('DAV-13 DAV-3 changes nothing on reserved paths and for those who only read', async () => {
    const reserved = await changesNothing(wire.server, () => post({ do: 'folder', name: '.platform' }, own, '/'))
    expect(reserved.status).to.equal(403)
    const Authorization = `Basic ${Buffer.from('reader:pw').toString('base64')}`
    const reader = await changesNothing(wire.server, () => post({ do: 'folder', name: 'x' }, { ...own, Authorization }))
    expect(outcomeOf(reader)).to.equal('403 Forbidden')
    expect((await wire.dav('GET', '/f/', { Authorization })).text).not.to.include('<form')
  })

  it('DAV-81 a locked file keeps its name', async () => {
    const lockinfo =
      '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>'
    expect((await wire.dav('LOCK', '/f/page.html', {}, lockinfo)).status).to.equal(200)
    const refused = await changesNothing(wire.server, () => post({ do: 'rename', member: 'page.html', name: 'x.html' }))
    expect(refused.status).to.equal(423)
  })

  it('DAV-40 DAV-101 who is refused in a browser is led back, where the answer is XML as well', async () => {
    const Accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
    const refused = await post({ do: 'delete', member: 'page.html', sure: 'yes' }, { ...own, Accept })
    expect(refused.status).to.equal(423)
    expect(refused.text).to.include('<a href="/f/">Back to the folder</a>')
    expect(() => parseXml(refused.text)).not.to.throw()
  })
})
