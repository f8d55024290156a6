/** Items that are left open in each other are written anew once, with all that is in them (SEC-12). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { revising } from '../../pipeline/model/revise.ts'
import { parseDocument } from '../../pipeline/tree/document.ts'
import { elementAlone, isText } from '../../pipeline/tree/nodes.ts'
import { compileSelector, selectAll, selectFirst } from '../../pipeline/tree/selector/selector.ts'
import { serializeDocument } from '../../pipeline/tree/serialize.ts'
import { atOnce } from '../../pipeline/tree/steps.ts'

const LEVELS = 100
const TEXT = 'text '.repeat(1_000)

describe('items that are left open in each other', () => {
  it('MOD-30 SEC-12 each gets a default: what they hold is read a few times', () => {
    const document = parseDocument('html', `<!DOCTYPE html><body>${'<div>'.repeat(LEVELS)}<p>${TEXT}</p>`)
    const [text] = selectFirst(compileSelector('p'), document)?.childNodes ?? []
    if (!text || !isText(text)) throw new Error('no text')
    let reads = 0
    Object.defineProperty(text, 'value', {
      get() {
        reads++
        return TEXT
      },
    })
    const items = selectAll(compileSelector('div'), document)
    const defaults = items.map(to => ({ op: 'append', to, node: elementAlone('i') }) as const)
    const revised = atOnce(revising(document, defaults, []))
    expect(revised && serializeDocument(revised.document).match(/<i><\/i>/g)).to.have.length(LEVELS)
    expect(reads).to.be.below(LEVELS / 4)
  })
})
