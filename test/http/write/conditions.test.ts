import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { page, put, remove, rulesPage } from '../../support/content.ts'
import { type Client, client, type Fields, type Received, tagOf } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { failureOf, leavesAlone, moving, selecting } from '../write-checks.ts'

const LIST = page('<ul id="l">\n  <li id="a">a</li>\n  <li id="b">b</li>\n</ul>\n<p id="p">p</p>')
const PATH = '/list.html'
const OLD = 'Mon, 01 Jan 2001 00:00:00 GMT'

describe('conditional writes', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/rules.html', rulesPage(['*', 'PUT|POST|DELETE|MOVE', 'Allow', '/*']))
  })
  after(() => server.close())
  beforeEach(async () => {
    await put(server, PATH, LIST)
    await put(server, '/blob.bin', 'blob')
    if (await server.site.find('/free.html')) await remove(server, '/free.html')
  })

  const wholeTag = async (path = PATH) => tagOf(await http('GET', path))
  const elementTag = async (selector: string) => tagOf(await http('GET', PATH, selecting(selector)))
  const parts = (tag: string) => tag.slice(1, -1).split('-')

  /** A failed condition: 412 with the current tag, and nothing changed (HTTP-38). */
  async function fails(tag: string | undefined, run: () => Promise<Received>, path = PATH): Promise<void> {
    const answer = await leavesAlone(server, [path], run)
    expect(failureOf(answer)).to.equal('412 PreconditionFailed')
    expect(answer.headers.etag).to.equal(tag)
  }

  /** Every kind of write of the document as a whole, and the tag it is compared with. */
  const wholes: [name: string, run: (fields: Fields) => Promise<Received>, path: string][] = [
    ['PUT', fields => http('PUT', PATH, fields, LIST), PATH],
    ['DELETE', fields => http('DELETE', PATH, fields), PATH],
    ['MOVE', fields => http('MOVE', PATH, { Destination: '/free.html', ...fields }), PATH],
    ['PUT of a blob', fields => http('PUT', '/blob.bin', fields, 'new'), '/blob.bin'],
    ['DELETE of a blob', fields => http('DELETE', '/blob.bin', fields), '/blob.bin'],
    ['MOVE of a blob', fields => http('MOVE', '/blob.bin', { Destination: '/free.html', ...fields }), '/blob.bin'],
  ]
  for (const [name, run, path] of wholes) {
    describe(`of a whole resource: ${name}`, () => {
      it('HTTP-37 If-Match with the stored tag, in a list, unquoted, or * passes', async () => {
        const tag = await wholeTag(path)
        for (const value of [tag, `"x", ${tag}`, `${tag},"y"`, tag.slice(1, -1), '*', `W/"q" , ${tag}`]) {
          await put(server, path, path === PATH ? LIST : 'blob')
          expect((await run({ 'If-Match': value })).status, value).to.be.oneOf([200, 204])
        }
        await put(server, path, path === PATH ? LIST : 'blob')
        expect((await run({ 'If-Match': ['"x"', tag] })).status).to.be.oneOf([200, 204])
      })

      it('HTTP-35 HTTP-38 If-Match with another tag, a weak one or an empty list is 412 with the stored tag', async () => {
        const tag = await wholeTag(path)
        for (const value of ['"x"', '"x", "y"', `W/${tag}`, '', '"*"', tag.slice(0, -2)]) {
          await fails(tag, () => run({ 'If-Match': value }), path)
        }
      })

      it('HTTP-37 If-None-Match blocks with the stored tag, weak, in a list, or *', async () => {
        const tag = await wholeTag(path)
        for (const value of [tag, `W/${tag}`, `"x", ${tag}`, '*', tag.slice(1, -1)]) {
          await fails(tag, () => run({ 'If-None-Match': value }), path)
        }
        expect((await run({ 'If-None-Match': '"x", W/"y"' })).status).to.be.oneOf([200, 204])
      })

      it('HTTP-36 If-Unmodified-Since counts, and yields to If-Match', async () => {
        const tag = await wholeTag(path)
        await fails(tag, () => run({ 'If-Unmodified-Since': OLD }), path)
        expect((await run({ 'If-Unmodified-Since': OLD, 'If-Match': tag })).status).to.be.oneOf([200, 204])
        await put(server, path, path === PATH ? LIST : 'blob')
        await fails(await wholeTag(path), () => run({ 'If-Match': '"x"', 'If-Unmodified-Since': later() }), path)
      })

      it('HTTP-36 a date that is not reached, or cannot be read, does not stop a write', async () => {
        for (const date of [later(), 'yesterday', '', '2001-01-01', 'Mon, 99 Jan 2001 00:00:00 GMT']) {
          await put(server, path, path === PATH ? LIST : 'blob')
          expect((await run({ 'If-Unmodified-Since': date })).status, date).to.be.oneOf([200, 204])
        }
      })

      it('HTTP-36 If-Modified-Since is for reads', async () => {
        expect((await run({ 'If-Modified-Since': later() })).status).to.be.oneOf([200, 204])
      })

      it('HTTP-36 both must hold where If-Match and If-None-Match come together', async () => {
        const tag = await wholeTag(path)
        await fails(tag, () => run({ 'If-Match': tag, 'If-None-Match': tag }), path)
        await fails(tag, () => run({ 'If-Match': '"x"', 'If-None-Match': '"x"' }), path)
        expect((await run({ 'If-Match': tag, 'If-None-Match': '"x"' })).status).to.be.oneOf([200, 204])
      })
    })
  }

  describe('of a composed page as a whole', () => {
    const P = 'xmlns:p="https://platform.example/ns/1.0"'
    const COMPOSED = page(`<div ${P}><p:include selector="#part" resource="/part.html"></p:include></div>`)
    const BROKEN = page(`<div ${P}><p:include selector="#none" resource="/part.html"></p:include></div>`)
    const storedTag = async () => (await server.site.find(PATH))?.tag ?? 'nothing stored'
    beforeEach(async () => {
      await put(server, '/part.html', page('<p id="part">one</p>'))
      await put(server, PATH, COMPOSED)
    })

    const runs: [name: string, run: (fields: Fields) => Promise<Received>][] = [
      ['PUT', fields => http('PUT', PATH, fields, COMPOSED)],
      ['DELETE', fields => http('DELETE', PATH, fields)],
      ['MOVE', fields => http('MOVE', PATH, { Destination: '/free.html', ...fields })],
    ]
    for (const [name, run] of runs) {
      it(`HTTP-37 ${name}: the tag that a whole GET carries passes, and so does the stored one`, async () => {
        for (const tag of [await wholeTag(), await storedTag(), `"x", ${await wholeTag()}`]) {
          await put(server, PATH, COMPOSED)
          expect((await run({ 'If-Match': tag })).status, tag).to.be.oneOf([200, 204])
        }
      })

      it(`HTTP-37 HTTP-38 ${name}: not any more once something else went into the page`, async () => {
        const tag = await wholeTag()
        await put(server, '/part.html', page('<p id="part">two</p>'))
        await fails(await storedTag(), () => run({ 'If-Match': tag }))
        await fails(await storedTag(), () => run({ 'If-Match': `W/${tag}` }))
      })

      it(`HTTP-37 ${name}: If-None-Match blocks with either`, async () => {
        for (const tag of [await wholeTag(), `W/${await wholeTag()}`, await storedTag()])
          await fails(await storedTag(), () => run({ 'If-None-Match': tag }))
        expect((await run({ 'If-None-Match': '"x"' })).status).to.be.oneOf([200, 204])
      })
    }

    it('HTTP-37 a page that cannot be put together is known by what is stored alone', async () => {
      await put(server, PATH, BROKEN)
      await fails(await storedTag(), () => http('PUT', PATH, { 'If-Match': '"x"' }, COMPOSED))
      expect((await http('PUT', PATH, { 'If-Match': await storedTag() }, COMPOSED)).status).to.equal(200)
    })
  })

  const later = () => new Date(Date.now() + 60_000).toUTCString()

  describe('where nothing is stored', () => {
    it('HTTP-37 If-Match fails for PUT, also for *: 412 without a tag', async () => {
      for (const value of ['*', '"x"', '']) {
        await fails(undefined, () => http('PUT', '/free.html', { 'If-Match': value }, LIST), '/free.html')
      }
    })

    it('HTTP-37 If-None-Match: * creates, and only once', async () => {
      const create = () => http('PUT', '/free.html', { 'If-None-Match': '*' }, LIST)
      expect((await create()).status).to.equal(201)
      await fails(await wholeTag('/free.html'), create, '/free.html')
    })

    it('HTTP-37 other tags of If-None-Match, and dates, let a PUT pass', async () => {
      expect(
        (await http('PUT', '/free.html', { 'If-None-Match': '"x"', 'If-Unmodified-Since': OLD }, LIST)).status,
      ).to.equal(201)
    })

    it('HTTP-1 a failed precondition never hides a 404 or 416', async () => {
      const wrong = { 'If-Match': '"x"' }
      expect((await http('DELETE', '/free.html', wrong)).status).to.equal(404)
      expect((await http('MOVE', '/free.html', { ...wrong, Destination: '/x.html' })).status).to.equal(404)
      expect((await http('PUT', '/free.html', { ...wrong, ...selecting('p') }, '<p>')).status).to.equal(404)
      for (const method of ['PUT', 'POST', 'DELETE']) {
        expect((await http(method, PATH, { ...wrong, ...selecting('#x') }, '<p>')).status, method).to.equal(416)
      }
      expect((await http('MOVE', PATH, { ...wrong, ...moving(PATH, '#x', '#a', 'after') })).status).to.equal(416)
      expect((await http('MOVE', PATH, { ...wrong, ...moving(PATH, '#a', '#x', 'after') })).status).to.equal(416)
    })

    it('HTTP-1 conditions come before the body: a wrong tag is told, not a wrong body', async () => {
      const wrong = { 'If-Match': '"x"' }
      expect((await http('PUT', PATH, { ...wrong, ...selecting('#a') }, '')).status).to.equal(412)
      expect((await http('POST', PATH, { ...wrong, ...selecting('#l') }, '')).status).to.equal(412)
      await put(server, '/f.xml', '<a/>')
      expect((await http('PUT', '/f.xml', wrong, '<a>')).status).to.equal(412)
      expect((await http('DELETE', PATH, { ...wrong, ...selecting('html') })).status).to.equal(412)
    })

    it('COMP-108 conditions of a creation are about the new name, where nothing is stored', async () => {
      expect((await http('POST', '/made/', { 'If-None-Match': '*' }, 'x')).status).to.equal(201)
      expect((await http('POST', '/made/', { 'If-Match': '*' }, 'x')).status).to.equal(412)
    })
  })

  /** Writes of elements: how, and the element whose tag counts (HTTP-37 d). */
  const elements: [name: string, target: string, other: string, run: (fields: Fields) => Promise<Received>][] = [
    ['PUT', '#a', '#b', fields => http('PUT', PATH, { ...selecting('#a'), ...fields }, '<li id="a">A</li>')],
    ['DELETE', '#a', '#b', fields => http('DELETE', PATH, { ...selecting('#a'), ...fields })],
    ['POST append', '#l', '#p', fields => http('POST', PATH, { ...selecting('#l'), ...fields }, '<li>c</li>')],
    [
      'POST before',
      '#b',
      '#a',
      fields => http('POST', PATH, { ...selecting('#b', 'before'), ...fields }, '<li>c</li>'),
    ],
    ['MOVE', '#a', '#b', fields => http('MOVE', PATH, { ...moving(PATH, '#a', '#b', 'after'), ...fields })],
  ]
  for (const [name, target, other, run] of elements) {
    describe(`of an element: ${name}`, () => {
      const passes = async (fields: Fields) => {
        expect((await run(fields)).status, JSON.stringify(fields)).to.be.oneOf([204, 206])
        await put(server, PATH, LIST)
      }
      /** Something else changes, so that the document part of every tag is stale. */
      const elsewhere = () => put(server, PATH, LIST.replace('</ul>', '</ul>\n<footer>new</footer>'))

      it('HTTP-37 (a) the stored tag of the document passes, until something changes', async () => {
        const tag = await wholeTag()
        await passes({ 'If-Match': tag })
        await passes({ 'If-Match': `"x", ${tag}` })
        await elsewhere()
        await fails(await elementTag(target), () => run({ 'If-Match': tag }))
      })

      it('HTTP-37 (b) the tag of a whole GET passes, compressed or not', async () => {
        await passes({ 'If-Match': tagOf(await http('GET', PATH)) })
        for (const suffix of ['-gzip', '-br']) {
          await passes({ 'If-Match': `${(await wholeTag()).slice(0, -1)}${suffix}"` })
        }
      })

      it('HTTP-37 (c) any fragment tag of the current version passes, also of an unrelated element', async () => {
        for (const selector of ['#p', 'body', 'html', 'title', other, target]) {
          await passes({ 'If-Match': await elementTag(selector) })
        }
        const stale = await elementTag('#p')
        await elsewhere()
        await fails(await elementTag(target), () => run({ 'If-Match': stale }))
      })

      it('HTTP-37 (c) tags of a multi-match answer pass as those of their elements', async () => {
        const several = await http('GET', PATH, { ...selecting('li, p'), Accept: 'multipart/mixed' })
        const tags = [...several.text.matchAll(/^ETag: (.*)\r$/gm)].map(found => found[1] ?? '')
        expect(tags).to.have.length(3)
        for (const tag of tags) await passes({ 'If-Match': tag })
      })

      it('HTTP-37 (d) the tag of the target passes although something else changed', async () => {
        const tag = await elementTag(target)
        const old = tag.replace(/-[0-9a-f]+"$/, hash => hash.replace(/[0-9a-f]/g, '0'))
        await elsewhere()
        expect(await elementTag(target)).not.to.equal(tag)
        expect((await run({ 'If-Match': tag })).status).to.be.oneOf([204, 206])
        await elsewhere()
        expect((await run({ 'If-Match': old })).status).to.be.oneOf([204, 206])
        await elsewhere()
        const stale = await elementTag(other)
        await put(server, PATH, LIST)
        await fails(await elementTag(target), () => run({ 'If-Match': stale }))
      })

      it('HTTP-37 (d) the tag of the target fails when the target changed', async () => {
        const tag = await elementTag(target)
        const changed = LIST.replace(/<li id="a">a|<li id="b">b/g, '$&!')
        await put(server, PATH, changed)
        await fails(await elementTag(target), () => run({ 'If-Match': tag }))
      })

      it('HTTP-37 * means that the target exists', async () => {
        await passes({ 'If-Match': '*' })
        await fails(await elementTag(target), () => run({ 'If-None-Match': '*' }))
      })

      it('HTTP-35 HTTP-38 weak, foreign and empty tags are 412 with the tag of the target', async () => {
        const tag = await elementTag(target)
        const stored = await wholeTag()
        for (const value of ['"x"', `W/${tag}`, `W/${stored}`, '', '"0-0"', `"${parts(tag)[0]}"`, '"-"']) {
          await fails(tag, () => run({ 'If-Match': value }))
        }
      })

      it('HTTP-37 If-None-Match blocks where a listed tag fits any of these, weak or not', async () => {
        const tag = await elementTag(target)
        const old = tag.replace(/-[0-9a-f]+"$/, hash => hash.replace(/[0-9a-f]/g, '0'))
        for (const value of [await wholeTag(), tag, `W/${tag}`, await elementTag('body'), `"x", ${old}`]) {
          await fails(tag, () => run({ 'If-None-Match': value }))
        }
        await passes({ 'If-None-Match': '"x"' })
      })

      it('HTTP-36 If-Unmodified-Since compares with the last commit of the document', async () => {
        const tag = await elementTag(target)
        await fails(tag, () => run({ 'If-Unmodified-Since': OLD }))
        await passes({ 'If-Unmodified-Since': later() })
        await passes({ 'If-Unmodified-Since': OLD, 'If-Match': await elementTag(target) })
      })
    })
  }

  it('HTTP-37 a client that read the body may save the list with that tag as long as nothing was written', async () => {
    const tag = await elementTag('body')
    const save = (value: string, text: string) =>
      http('PUT', PATH, { ...selecting('#l'), 'If-Match': value }, `<ul id="l"><li>${text}</li></ul>`)
    const answer = await save(tag, 'one')
    expect(answer.status).to.equal(206)
    expect((await save(tag, 'two')).status).to.equal(412)
    expect((await save(tagOf(answer), 'three')).status).to.equal(206)
  })

  it('HTTP-38 the tag of a 412 is the one to go on with', async () => {
    const refused = await http('PUT', PATH, { ...selecting('#a'), 'If-Match': '"x"' }, '<li id="a">A</li>')
    const again = await http('PUT', PATH, { ...selecting('#a'), 'If-Match': tagOf(refused) }, '<li id="a">A</li>')
    expect(again.status).to.equal(206)
  })

  it('HTTP-37 a tag of the XML element, of an element with the same markup elsewhere', async () => {
    await put(server, '/f.xml', '<f><e>x</e><e>x</e><g/></f>')
    const tag = tagOf(await http('GET', '/f.xml', selecting('e')))
    const answer = await http('DELETE', '/f.xml', { ...selecting('e'), 'If-Match': tag })
    expect(answer.status).to.equal(204)
    expect((await http('PUT', '/f.xml', { ...selecting('g'), 'If-Match': tag }, '<g/>')).status).to.equal(412)
    // The second of two equal elements has the same fragment part.
    expect((await http('DELETE', '/f.xml', { ...selecting('e'), 'If-Match': tag })).status).to.equal(204)
  })

  it('HTTP-108 conditions of a MOVE are about what moves, not about what it replaces', async () => {
    await put(server, '/free.html', page('target'))
    const other = await wholeTag('/free.html')
    const move = (fields: Fields) => http('MOVE', PATH, { Destination: '/free.html', ...fields })
    await fails(await wholeTag(), () => move({ 'If-Match': other }))
    expect((await move({ 'If-Match': await wholeTag(), 'If-None-Match': other })).status).to.equal(204)
  })
})
