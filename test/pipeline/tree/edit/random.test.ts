import { parseDocument } from '../../../../pipeline/tree/document.ts'
import { TreeError } from '../../../../pipeline/tree/limits.ts'
import type { DocumentKind, TreeDocument } from '../../../../pipeline/tree/nodes.ts'
import { GRADES, type Grade, Writer } from './generator.ts'
import { judged } from './judge.ts'
import { randomFrom } from './random.ts'

/** Seconds to go on with ever new documents; without it, the same ones in every run. */
const FUZZ = Number(process.env.FUZZ ?? 0)

const DOCUMENTS = 100

/** Edits in a row on one document, so that patched trees are edited again. */
const EDITS = 4

function document(writer: Writer, kind: DocumentKind): TreeDocument | undefined {
  try {
    return parseDocument(kind, kind === 'xml' ? writer.xmlDocument() : writer.document())
  } catch (error) {
    if (error instanceof TreeError) return undefined
    throw error
  }
}

/** @returns the ways that were taken */
function run(kind: DocumentKind, grade: Grade, seed: number, ways: Map<string, number>): void {
  const writer = new Writer(randomFrom(seed), grade)
  let current = document(writer, kind)
  for (let i = 0; current && i < EDITS; i++) {
    const wanted = writer.edit(current)
    if (!wanted) return
    const { source } = current
    try {
      const done = judged(current, wanted)
      if (!done) continue
      ways.set(done.way, (ways.get(done.way) ?? 0) + 1)
      current = done.document
    } catch (error) {
      const { op } = wanted
      throw new Error(`seed ${seed}, edit ${i} (${op}) of ${JSON.stringify(source)}`, { cause: error })
    }
  }
}

describe('HTTP-24 random edits keep all other bytes and give the expected tree', () => {
  const samples: [string, DocumentKind, Grade][] = [
    ...GRADES.map(grade => [`${grade} HTML`, 'html', grade] as [string, DocumentKind, Grade]),
    ['XML', 'xml', 'tidy'],
  ]
  for (const [i, [name, kind, grade]] of samples.entries()) {
    it(`of ${name}`, function () {
      this.timeout(300_000 + FUZZ * 1000)
      const ways = new Map<string, number>()
      const end = Date.now() + (FUZZ * 1000) / samples.length
      const first = FUZZ > 0 ? Date.now() % 1_000_000_000 : i * 1_000_000
      for (let n = 0; FUZZ > 0 ? Date.now() < end : n < DOCUMENTS; n++) run(kind, grade, first + n, ways)
      if (FUZZ > 0) console.log(Object.fromEntries(ways))
    })
  }
})
