import { expect } from 'chai'
import { describe, it } from 'mocha'
import { viewing } from '../../../pipeline/access/readable-view.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import type { TreeDocument } from '../../../pipeline/tree/nodes.ts'
import { compileSelector, selectAll } from '../../../pipeline/tree/selector/selector.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { access, html, key, type Line, site } from './site.ts'

const MINE: Line = ['*', 'GET', 'Allow', '/p', '.mine']
const INBOX: Line = ['*', 'POST', 'Allow', '/p', '#in']

function view(document: TreeDocument, ...lines: Line[]) {
  return atOnce(viewing(access(site(lines), { defaultGet: 'deny' }), '/p', document))
}

/** A page of which one item may be read, and one list written to. */
function page({ secret = 'secret', title = 't', text = 'abc' }): TreeDocument {
  return html(`<section id=s class=c title="${secret}"><b>${secret}</b>
    <ul id=in data-x=1><li class=mine title="${title}">${text}<i>d</i></li><li>${secret}</li></ul></section><p>${secret}</p>`)
}

describe('what a selector may see of a document', () => {
  const seen = view(page({}), MINE, INBOX)
  const table: [selector: string, count: number][] = [
    ['.mine[title=t] > i', 1],
    ['section#s.c > ul#in > li.mine', 1],
    ['[title]', 1],
    ['[data-x]', 0],
    ['b', 0],
    ['p', 0],
    ['li', 1],
    ['html > body', 1],
    ['section :nth-child(2) > :nth-child(1)', 1],
    [':empty', 0],
  ]
  for (const [selector, count] of table) {
    it(`SEC-6 ${selector}: ${count}`, () => {
      expect(selectAll(compileSelector(selector), seen.document)).to.have.length(count)
    })
  }

  it('SEC-6 what may be read is known, with all that is in it, and stands for what is stored', () => {
    const document = page({})
    const { original, isReadable, ...own } = view(document, MINE)
    const [item] = selectAll(compileSelector('.mine'), own.document)
    expect(item && original(item)).to.equal(key(document, '.mine').element)
    const readable = ['.mine', 'i', 'ul', 'b'].filter(each => isReadable(key(document, each).element))
    expect(readable).to.deep.equal(['.mine', 'i'])
  })

  const known: [what: string, lines: Line[], isBlank: boolean, isNameless: boolean][] = [
    ['nothing', [], true, true],
    ['names', [INBOX], true, false],
    ['an element', [MINE], false, false],
    ['the whole', [['*', 'GET', 'Allow', '/p']], false, false],
  ]
  for (const [what, lines, isBlank, isNameless] of known) {
    it(`SEC-6 of ${what}`, () => expect(view(page({}), ...lines)).to.include({ isBlank, isNameless }))
  }

  it('SEC-6 SEC-12 what bounds the cost of a selector grows with what may be read, and with nothing else', () => {
    const { length } = seen.document.source
    const lengthOf = (options: Parameters<typeof page>[0]) => view(page(options), MINE, INBOX).document.source.length
    expect(lengthOf({ secret: 'x'.repeat(500) })).to.equal(length)
    expect(lengthOf({ text: 'x'.repeat(500) })).to.equal(length + 497)
    expect(lengthOf({ title: 'x'.repeat(500) })).to.equal(length + 499)
  })

  it('SEC-6 an attribute with a prefix names nothing', () => {
    const document = parseDocument('xml', '<r><a xmlns:x="u" x:id="k" id="in" title="t"/></r>')
    const [element] = selectAll(compileSelector('#in'), view(document, INBOX).document)
    expect(element?.attrs.map(({ name }) => name)).to.deep.equal(['id'])
  })
})
