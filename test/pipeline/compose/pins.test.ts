// biome-ignore-all lint/suspicious/noTemplateCurlyInString: selector literals of programs look like templates
/** Trees that are being read stay as they are while their documents go on being edited. */

import { expect } from 'chai'
import fc from 'fast-check'
import { after, before, describe, it } from 'mocha'
import { storedDocument } from '../../../pipeline/read/representation.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { edit, PinnedDocument } from '../../../pipeline/tree/edit/edit.ts'
import { rootElement } from '../../../pipeline/tree/nodes.ts'
import { isPinned, pinTree } from '../../../pipeline/tree/pins.ts'
import { selectFirst, selectorFor } from '../../../pipeline/tree/selector/selector.ts'
import { outerMarkup } from '../../../pipeline/tree/serialize.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { selecting, textOf } from '../../http/write-checks.ts'
import { page, put, remove, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { trigger } from '../react/site.ts'

describe('A pinned tree', () => {
  it('COMP-4 is not patched by an edit until its last reader is done', () => {
    const document = parseDocument('html', page('<ul id="l"></ul>'))
    const target = selectFirst(selectorFor('#l'), document)
    if (!target) throw new Error('no list')
    const proposal = edit(document, { op: 'insert', anchor: target, placement: 'append', text: '<li>x</li>' })
    const { source } = document
    const [first, second] = [pinTree(document), pinTree(document)]
    first()
    first()
    expect(isPinned(document)).to.equal(true)
    expect(() => atOnce(proposal.accepting())).to.throw(PinnedDocument)
    expect(document.source).to.equal(source)
    expect(target.childNodes).to.have.length(0)
    second()
    expect(atOnce(proposal.accepting())).to.equal(document)
    expect(target.childNodes).to.have.length(1)
  })

  describe('of a site', () => {
    let server: TestServer
    let send: Client

    before(async () => {
      server = await startServer()
      send = client(server)
      await put(server, '/rules.html', rulesPage(['*', 'POST|PUT|DELETE', 'Allow', '/l.html']))
    })
    after(() => server.close())

    it('REA-43 COMP-4 is kept by no lambda that code of a reaction has left for another one', async () => {
      await put(server, '/looked-at.html', page('<p id="p">text</p>'))
      const action = [
        'Context.look = () => (${#p} from "/looked-at.html").first().text()',
        'let look = Context.look; if (look() != "text") { throw "not seen" }',
      ]
      await put(server, '/trigger.html', page(trigger({ resource: '/l.html', method: 'DELETE', when: 'true', action })))
      await put(server, '/l.html', page('<ul id="l"></ul>'))
      expect((await send('DELETE', '/l.html')).status).to.equal(204)
      const tree = server.site.inMemory('/looked-at.html')?.tree
      expect(tree && isPinned(tree)).to.equal(false)
      await remove(server, '/trigger.html')
    })

    const markup = () => {
      const held = server.site.inMemory('/l.html')
      if (!held) throw new Error('not in memory')
      const tree = server.site.tree(held)
      const root = rootElement(tree)
      if (!root) throw new Error('empty')
      return { held, tree, text: () => outerMarkup(root, 'html') }
    }

    it('COMP-4 stays as it is while writes go on, and every reader sees the version it began with', () =>
      fc.assert(
        fc.asyncProperty(
          fc.array(fc.constantFrom('post', 'put', 'delete', 'pin', 'release'), { maxLength: 14 }),
          steps => run(steps),
        ),
        { numRuns: 25, seed: 8 },
      ))

    async function run(steps: readonly string[]): Promise<void> {
      await put(server, '/l.html', page('<ul id="l"><li id="a">a</li></ul>'))
      await server.site.findParsed('/l.html')
      const readers: { release: () => void; text: () => string; expected: string }[] = []
      let items = ['<li id="a">a</li>']
      for (const [i, step] of steps.entries()) {
        const one = `<li id="n${i}">${i}</li>`
        if (step === 'pin') {
          await server.site.findParsed('/l.html')
          const { held, tree, text } = markup()
          const view = storedDocument(server.site, held, tree)
          readers.push({ release: pinTree(view.tree), text, expected: text() })
        } else if (step === 'release') readers.shift()?.release()
        else if (step === 'post') {
          expect((await send('POST', '/l.html', selecting('#l'), one)).status).to.equal(206)
          items = [...items, one]
        } else if (step === 'put' && items.length > 0) {
          expect((await send('PUT', '/l.html', selecting('#l > li'), one)).status).to.equal(206)
          items = [one, ...items.slice(1)]
        } else if (step === 'delete' && items.length > 0) {
          expect((await send('DELETE', '/l.html', selecting('#l > li'))).status).to.equal(204)
          items = items.slice(1)
        }
        for (const { text, expected } of readers) expect(text()).to.equal(expected)
        expect(await textOf(server, '/l.html')).to.contain(`<ul id="l">${items.join('')}</ul>`)
        const shown = await send('GET', '/l.html', selecting('#l'))
        expect(shown.text).to.equal(`<ul id="l">${items.join('')}</ul>`)
      }
      for (const { release } of readers) release()
    }
  })
})
