/**
 * Names in other spellings: whichever a request uses, a file is the same one for rules, scopes, locks and conditions, and no
 * two files are taken for each other (HTTP-11, RULE-4, DAV-10).
 */

import { expect } from 'chai'
import fc from 'fast-check'
import { after, before, describe, it } from 'mocha'
import { lockInfo } from '../dav/locks/locking.ts'
import { basic } from '../dav/wire.ts'
import { page, putAll, ruleMarkup } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const SECRET = 'TOPSECRET'
const [COMPOSED, DECOMPOSED] = ['caf\u00e9', 'cafe\u0301']
const EDITOR = { user: 'editor', password: 'a known password', scope: ['/*'], write: true }
const part = (folder: string) => ({ user: 'part', password: 'part', scope: [`/${folder}/*`], write: true })

const encoded = (text: string) => [...Buffer.from(text)].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join('')

/** Other ways to write the path of a file in a folder. */
function same(folder: string): string[] {
  const plain = encodeURIComponent(folder)
  const folders = [plain, plain.toLowerCase(), encoded(folder), encoded(folder).toUpperCase()]
  const paths = folders.flatMap(each => [`/${each}/a.html`, `/${each}/${encoded('a.html')}`, `/${each}/a%2ehtml`])
  return [...paths, `/${plain}/a.html?`, `/${plain}/a.html?x=/plain/a.html`, `http://localhost/${plain}/a.html`]
}

/** Paths that look like it and are those of other files, or none that can be. */
function others(folder: string): string[] {
  const plain = encodeURIComponent(folder)
  const upper = encodeURIComponent(folder.toUpperCase())
  const folders = [upper, `${plain};x=1`, `${plain}.`, `${plain}%20`, `${plain}%2e`, `%2e/${plain}`, `${plain}%C2%A0`]
  return [
    ...folders.map(each => `/${each}/a.html`),
    ...['//F/a', '/F//a', '/./F/a', '/F/./a', '/x/../F/a', '/F%2Fa', '/F%2fa', '/F%5ca', '/F\\a', '/%2e%2e/F/a'].map(
      each => each.replace('F', plain).replace(/a$/, 'a.html'),
    ),
    ...['.', '%20', ';x', '/', '%00', '%c0%80', '%3f', '%23', '%', '%e9', '%u00e9'].map(
      end => `/${plain}/a.html${end}`,
    ),
    ...[`/${plain}/A.HTML`, `/${plain}%c0%afa.html`, `/${plain}%252Fa.html`, `/${plain.replaceAll('%', '%25')}/a.html`],
  ]
}

describe('Names in other spellings', () => {
  for (const stored of [COMPOSED, DECOMPOSED])
    for (const ruled of [COMPOSED, DECOMPOSED])
      describe(`of a file in ${encodeURIComponent(stored)}, rules and scopes about ${encodeURIComponent(ruled)}`, () => {
        let server: TestServer
        let visitor: Client
        let author: Client

        before(async () => {
          server = await startServer({ site: { defaultGet: 'allow', credentials: [EDITOR, part(ruled)] } })
          const mount = Number(new URL(server.mountUrl).port)
          visitor = client(server.port)
          author = client(mount, { Authorization: basic('part', 'part') })
          const editor = client(mount, { Authorization: basic(EDITOR.user, EDITOR.password) })
          const rules = [
            ['*', 'GET', 'Deny', `/${ruled}/*`],
            ['*', 'PUT', 'Allow', '/*'],
            ['*', 'PUT', 'Deny', `/${ruled}/*`],
          ] as const
          await putAll(server, {
            '/rules.html': page(rules.map(rule => ruleMarkup(rule)).join('')),
            '/plain/a.html': page('<p>plain</p>'),
          })
          const put = await editor('PUT', `/${encodeURIComponent(stored)}/a.html`, {}, page(`<p>${SECRET}</p>`))
          expect(put.status).to.equal(201)
        })
        after(() => server.close())

        it('RULE-4 visitors neither read nor write it by any', async () => {
          for (const target of [...same(COMPOSED), ...same(DECOMPOSED)]) {
            expect((await visitor('GET', target)).status, target).to.equal(401)
            expect((await visitor('GET', target, { Range: 'selector=p' })).status, target).to.equal(401)
            expect((await visitor('PUT', target, {}, page('over'))).status, target).to.equal(401)
          }
          for (const target of [...others(COMPOSED), ...others(DECOMPOSED)]) {
            expect((await visitor('GET', target)).text, target).not.to.include(SECRET)
            await visitor('PUT', target, {}, page('over'))
          }
          expect((await author('GET', `/${encodeURIComponent(COMPOSED)}/a.html`)).text).to.include(SECRET)
        })

        it('DAV-3 a scope opens it by all, and nothing beside', async () => {
          for (const target of [...same(COMPOSED), ...same(DECOMPOSED)])
            expect((await author('GET', target)).text, target).to.include(SECRET)
          for (const target of [...others(COMPOSED), ...others(DECOMPOSED), ...same('plain'), ...others('plain')]) {
            const read = await author('GET', target)
            expect(read.text, target).not.to.include(SECRET)
            expect(read.text, target).not.to.include('<p>plain')
          }
          for (const to of [...same('plain'), ...others('plain')]) {
            const copied = await author('COPY', `/${encodeURIComponent(COMPOSED)}/a.html`, { Destination: to })
            expect(copied.status, to).to.be.at.least(400)
          }
        })

        it('DAV-62 a lock holds for all, and its token is good by all', async () => {
          const [one] = same(COMPOSED)
          const locked = await author('LOCK', one ?? '', {}, lockInfo())
          const token = locked.headers['lock-token'] ?? ''
          for (const target of [...same(COMPOSED), ...same(DECOMPOSED)]) {
            const body = page(`<p>${SECRET}</p>`)
            expect((await author('PUT', target, {}, body)).status, target).to.equal(423)
            for (const written of [COMPOSED, DECOMPOSED]) {
              const path = `/${encodeURIComponent(written)}/a.html`
              expect((await author('PUT', target, { If: `<${path}> (${token})` }, body)).status, target).to.equal(204)
            }
          }
          expect((await author('UNLOCK', one ?? '', { 'Lock-Token': token })).status).to.equal(204)
        })
      })

  describe('at random', () => {
    let server: TestServer
    before(async () => {
      server = await startServer({ site: { defaultGet: 'allow' } })
    })
    after(() => server.close())

    /** What each piece of a path stands for, by RFC 3986 and UTF-8; undefined where there is no such name. */
    const PIECES: [written: string, meant: string | undefined][] = [
      ...['a', 'A', '.', ';', '+', '~', ':', '@'].map((each): [string, string] => [each, each]),
      ...['a', 'A', '.', ' ', '%', '?', '#', '\u00e9', '\u0301', 'e', '\u212b', '\u00a0'].map(
        (each): [string, string] => [encoded(each), each],
      ),
      ['%C3%89', '\u00c9'],
      ...['%2F', '%5C', '%00', '%c0%af', '%e9', '%', '%ed%a0%80', '\\', '\u00e9'].map((each): [string, undefined] => [
        each,
        undefined,
      ]),
    ]
    const name = fc.array(fc.nat(PIECES.length - 1), { minLength: 1, maxLength: 4 })

    /** @returns undefined for a name that cannot be */
    function meant(pieces: readonly number[]): string | undefined {
      let whole = ''
      for (const piece of pieces) {
        const [, each] = PIECES[piece] ?? []
        if (each === undefined) return undefined
        whole += each
      }
      return whole.normalize('NFC')
    }

    it('HTTP-11 DAV-10 two paths are of one file only if their names are the same in NFC', async () => {
      const author = client(Number(new URL(server.mountUrl).port), {
        Authorization: basic(server.user, server.password),
      })
      const visitor = client(server.port)
      const files = new Map<string, string>()
      for (const [i, pieces] of fc.sample(name, { numRuns: Number(process.env.FUZZ ?? 200), seed: 11 }).entries()) {
        const target = `/r/x${pieces.map(each => PIECES[each]?.[0]).join('')}x`
        const path = meant(pieces)
        const text = `file ${i}`
        const written = await author('PUT', target, { 'Content-Type': 'text/plain' }, text)
        if (path === undefined) expect(written.status, target).to.equal(400)
        else {
          expect(written.status, target).to.equal(files.has(path) ? 204 : 201)
          files.set(path, text)
        }
        for (const ask of [author, visitor]) {
          const read = await ask('GET', target)
          if (path === undefined) expect(read.status, target).to.be.oneOf([400, 404])
          else expect(read.text, target).to.equal(text)
        }
      }
      const stored = []
      for await (const { path } of server.site.store.walk('/r/')) stored.push(path.slice(4, -1))
      expect(stored.sort()).to.deep.equal([...files.keys()].sort())
    })
  })
})
