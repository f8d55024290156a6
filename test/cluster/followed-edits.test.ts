import { expect } from 'chai'
import { describe, it } from 'mocha'
import { localLeases } from '../../pipeline/coordination/local/leases.ts'
import { type Derived, deriving } from '../../pipeline/declarations/derive.ts'
import { derivingEdit } from '../../pipeline/declarations/derive-edit.ts'
import { entriesOf } from '../../pipeline/model/entries.ts'
import { isItem } from '../../pipeline/model/items.ts'
import { elementsAround } from '../../pipeline/model/place.ts'
import { editNotice, type FollowedEdit, following, readNotice } from '../../pipeline/site/followed-edits.ts'
import type { Resource } from '../../pipeline/store/resource.ts'
import { parseDocument } from '../../pipeline/tree/document.ts'
import { type Edit, EditError, edit, editing, editingAgain, type Way } from '../../pipeline/tree/edit/edit.ts'
import { recordEdit } from '../../pipeline/tree/edit/record.ts'
import { TreeError } from '../../pipeline/tree/limits.ts'
import type { DocumentKind, TreeDocument } from '../../pipeline/tree/nodes.ts'
import { revisionOf } from '../../pipeline/tree/revisions.ts'
import { atOnce, type Steps } from '../../pipeline/tree/steps.ts'
import { command } from '../pipeline/tree/edit/command.ts'
import { GRADES, type Grade, Writer } from '../pipeline/tree/edit/generator.ts'
import { dump } from '../pipeline/tree/edit/judge.ts'
import { randomFrom } from '../pipeline/tree/edit/random.ts'
import { elementsOf } from '../pipeline/tree/samples.ts'
import { page } from '../support/content.ts'
import { members } from './members.ts'

const NS = 'https://platform.example/ns'

/** Documents of each kind that are edited at random; `FUZZ=<number>` looks further. */
const DOCUMENTS = Number(process.env.FUZZ ?? 75)

const DERIVATION = { ns: NS, schemaHost: 'https://schema.org' }

/** Makes an edit where it was asked for. @returns what others hear of it, and the document it leads to */
function made(document: TreeDocument, wanted: Edit): { record: FollowedEdit | undefined; document: TreeDocument } {
  const proposed = edit(document, wanted)
  const record = told(wanted, proposed)
  return { record, document: atOnce(proposed.accepting()) }
}

const FILE = { resource: { path: '/a.html', version: 1 } as Resource, profile: undefined }

/** What others hear of an edit. */
function told(wanted: Edit, { way }: { way: Way }): FollowedEdit | undefined {
  const notice = editNotice(FILE, wanted, { way })
  return notice && readNotice(JSON.parse(JSON.stringify(notice)))
}

type Told = Pick<FollowedEdit, 'edit' | 'way'>

const follow = (tree: TreeDocument, edits: readonly Told[], text: string) => atOnce(following(tree, edits, text))

const entries = ({ root }: TreeDocument, changed?: ReadonlySet<never>) =>
  entriesOf(elementsOf(root).filter(isItem), NS, changed)

describe('edits of other processes', () => {
  const samples: [string, DocumentKind, Grade][] = [
    ...GRADES.map(grade => [`${grade} HTML`, 'html', grade] as [string, DocumentKind, Grade]),
    ['XML', 'xml', 'tidy'],
  ]
  for (const [i, [name, kind, grade]] of samples.entries()) {
    it(`RULE-11 lead to the tree that the new version has, or to none: ${name}`, () => {
      let [followed, all] = [0, 0]
      for (let seed = i * 1_000_000; seed < i * 1_000_000 + DOCUMENTS; seed++) {
        const writer = new Writer(randomFrom(seed), grade)
        try {
          let theirs = parseDocument(kind, kind === 'xml' ? writer.xmlDocument() : writer.document())
          let mine: TreeDocument | undefined = parseDocument(kind, theirs.source)
          let pending: Told[] = []
          for (let n = 0; n < 6; n++) {
            const wanted = writer.edit(theirs)
            if (!wanted) break
            const { record, document } = made(theirs, wanted)
            theirs = document
            all++
            if (!record) mine = undefined
            else if (mine) pending.push(record)
            // Several edits may have come before somebody asks.
            if (mine && writer.chance(0.5)) continue
            if (mine) mine = follow(mine, pending, theirs.source)
            if (mine) followed += pending.length
            const fresh = parseDocument(kind, theirs.source)
            if (mine) expect(dump(mine.root, true), `seed ${seed}`).to.equal(dump(fresh.root, true))
            if (mine) expect(mine.clean, `seed ${seed}`).to.equal(fresh.clean)
            mine ??= fresh
            pending = []
          }
        } catch (error) {
          if (!(error instanceof EditError) && !(error instanceof TreeError)) throw error
        }
      }
      expect(followed).to.be.above(all / 3)
    })
  }

  for (const [i, [name, kind, grade]] of samples.entries())
    it(`RULE-11 lead to the tree that the new version has, or to none, whatever is said of how they were made: ${name}`, () => {
      let followed = 0
      for (let seed = i * 1_000_000 + 5000; seed < i * 1_000_000 + 5000 + DOCUMENTS; seed++) {
        const writer = new Writer(randomFrom(seed), grade)
        try {
          let theirs = parseDocument(kind, kind === 'xml' ? writer.xmlDocument() : writer.document())
          for (let n = 0; n < 6; n++) {
            const wanted = writer.edit(theirs)
            const record = wanted && recordEdit(wanted)
            if (!wanted || !record) break
            const before = theirs.source
            theirs = made(theirs, wanted).document
            const fresh = dump(parseDocument(kind, theirs.source).root, true)
            // Entries of an earlier release say nothing of it.
            for (const way of ['splice', undefined] as const) {
              const mine = follow(parseDocument(kind, before), [{ edit: record, way }], theirs.source)
              if (mine) expect(dump(mine.root, true), `seed ${seed}`).to.equal(fresh)
              if (mine) followed++
            }
          }
        } catch (error) {
          if (!(error instanceof EditError) && !(error instanceof TreeError)) throw error
        }
      }
      expect(followed).to.be.above(100)
    })

  it('RULE-11 whose bytes stand as they came are made again with one look at what they bring', () => {
    const source = page('<ul id="l"><li>x</li></ul>')
    const text = '<li><i>many</i> elements</li>'.repeat(2000)
    const wanted = (document: TreeDocument) => command(document, `append l ${text}`)
    const stepsOf = (work: Steps<unknown>) => {
      for (let steps = 1; ; steps++) if (work.next().done) return steps
    }
    const [one, other] = [parseDocument('html', source), parseDocument('html', source)]
    const first = stepsOf(editing(one, wanted(one)))
    expect(stepsOf(editingAgain(other, wanted(other)))).to.be.below(first * 0.6)
  })

  it('MOD-30 leave nothing behind that was known of the items around them', () => {
    const item = (name: string, inner = '') =>
      `<div id="${name}" itemscope itemtype="https://example.org/T"><b itemprop="name">${name}</b>${inner}</div>`
    const source = `<!doctype html><title>T</title><main>${item('a', item('b'))}${item('c')}</main>`
    let theirs = parseDocument('html', source)
    const mine = parseDocument('html', source)
    entries(mine)
    const records: Told[] = []
    for (const line of [
      'append b <i itemprop="more">new</i>',
      'before c <p>between</p>',
      'replace c <div id="c" itemscope itemtype="https://example.org/T"><b itemprop="name">other</b></div>',
      'move c append a',
    ]) {
      const { record, document } = made(theirs, command(theirs, line))
      theirs = document
      if (record) records.push(record)
    }
    expect(records).to.have.length(4)
    const reached = follow(mine, records, theirs.source)
    expect(reached).to.equal(mine)
    expect(entries(mine, new Set())).to.deep.equal(entries(parseDocument('html', theirs.source)))
  })

  /** Makes an edit as its writer does, who finds out about the document first. */
  function madeAndDerived(document: TreeDocument, wanted: Edit) {
    const proposed = edit(document, wanted)
    const revision = revisionOf(document)
    const work = proposed.propose(view => {
      const around = new Set(elementsAround(view.document, view.parents))
      const deriving = derivingEdit(document, revision, view, DERIVATION, around)
      let steps = 1
      for (let step = deriving.next(); ; step = deriving.next()) {
        if (step.done) return { ...step.value, steps }
        steps++
      }
    })
    const record = told(wanted, proposed)
    const reached = atOnce(proposed.accepting())
    work.made(reached)
    return { ...work, document: reached, record }
  }

  /** What is found about a document but its entries; the order of tokens says nothing. */
  const found = ({ profile, items, tokens, declares }: Derived) => ({ profile, items, tokens: tokens.sort(), declares })

  it('RULE-11 leave what is known of all other elements: the next edit reads none of them', () => {
    const source = page(`<ul id="l">${'<li class="c">x</li>'.repeat(20_000)}</ul>`)
    const sides = [parseDocument('html', source), parseDocument('html', source)]
    const steps: number[] = []
    for (let i = 0; i < 6; i++) {
      const [writer, reader] = [i % 2, 1 - (i % 2)]
      const [writing, reading] = [sides[writer], sides[reader]]
      if (!writing || !reading) throw new Error('a side is missing')
      const made = madeAndDerived(writing, command(writing, `append l <li id="n${i}">new</li>`))
      steps.push(made.steps)
      sides[writer] = made.document
      const followed = made.record && follow(reading, [made.record], made.document.source)
      if (!followed) throw new Error('an edit was not followed')
      sides[reader] = followed
    }
    const [first, second, ...others] = steps
    expect(first).to.be.above(20)
    expect(second).to.be.above(20)
    for (const each of others) expect(each).to.be.below(5)
  })

  for (const grade of ['tidy', 'wild'] as const)
    it(`RULE-11 leave known what a document holds, whoever edits it next: ${grade} HTML`, () => {
      let compared = 0
      for (let seed = 9_000_000; seed < 9_000_100; seed++) {
        const writer = new Writer(randomFrom(seed), grade)
        try {
          let mine = parseDocument('html', writer.document())
          let theirs = parseDocument('html', mine.source)
          for (let n = 0; n < 8; n++) {
            const wanted = writer.edit(mine)
            if (!wanted) break
            const { derived, document, record } = madeAndDerived(mine, wanted)
            const fresh = atOnce(deriving(parseDocument('html', document.source), DERIVATION, true))
            expect(found(derived), `seed ${seed}`).to.deep.equal(found(fresh))
            compared++
            const followed = record && follow(theirs, [record], document.source)
            // Who has followed makes the next edit.
            mine = followed ?? parseDocument('html', document.source)
            theirs = document
          }
        } catch (error) {
          if (!(error instanceof EditError) && !(error instanceof TreeError)) throw error
        }
      }
      expect(compared).to.be.above(100)
    })

  for (const [title, line, text] of [
    ['lead to another text', 'append a <li>x</li>', '<ul id="a"><li>y</li></ul>'],
    ['stand where nothing is', 'remove b', '<ul id="a"></ul>'],
  ] as const)
    it(`RULE-11 that ${title} lead nowhere`, () => {
      const theirs = parseDocument('html', '<ul id="a"></ul><ul id="b"></ul>')
      const { record } = made(theirs, command(theirs, line))
      if (!record) throw new Error('no record')
      expect(follow(parseDocument('html', '<ul id="a"></ul>'), [record], text)).to.equal(undefined)
    })

  it('RULE-11 are not told where the new version is read as fast', () => {
    const document = parseDocument('html', '<ul id="a"></ul><template><p id="t"></p></template>')
    const notice = (line: string, way: 'splice' | 'document' = 'splice') => told(command(document, line), { way })
    expect(notice('append a <li>x</li>')).to.be.an('object')
    expect(notice('append a <li>x</li>', 'document')).to.equal(undefined)
    expect(notice(`append a <li>${'x'.repeat(20_000)}</li>`)).to.equal(undefined)
    expect(notice('append t x')).to.equal(undefined)
  })
})

describe('trees of several processes', () => {
  const { two, textOf, isTrue } = members()

  it('RULE-11 edits of others are made on the tree that is held; no version is parsed', async () => {
    const members = await two(localLeases())
    await members[0].put('/a.html', page('<ul id="l"></ul>'))
    const trees: unknown[] = []
    for (let i = 0; i < 12; i++) {
      const [writer, reader] = i % 5 < 3 ? [members[0], members[1]] : [members[1], members[0]]
      await writer.append('/a.html', `${i}`)
      // Now and then several edits have come before somebody asks for the tree.
      if (i % 2 === 0) continue
      await isTrue(reader, ['/a.html'])
      trees.push((await reader.site.findParsed('/a.html'))?.tree)
    }
    for (const each of [members[0], members[1]]) await isTrue(each, ['/a.html'])
    // One for each member; where the machine is busy, a tree may still be in use when an edit comes, and is copied then.
    expect(trees).to.have.length(6)
    expect(new Set(trees).size).to.be.within(2, 4)
  })

  for (const [title, before] of [
    ['', ''],
    [', behind a byte order mark', '\uFEFF'],
  ])
    it(`RULE-11 what an edit of another leaves is in memory without being loaded, as the store has it${title}`, async () => {
      const members = await two(localLeases())
      await members[0].put('/a.html', `${before}${page('<p>é</p><ul id="l"></ul>')}`)
      for (const each of [members[0], members[1]]) await isTrue(each, ['/a.html'])
      for (let i = 0; i < 10; i++) {
        const [writer, reader] = i % 3 === 0 ? [members[1], members[0]] : [members[0], members[1]]
        // Items change the profile.
        const item = i === 4 ? `<b itemscope itemtype="https://a.example/T">${i}</b>` : `ü ${i}`
        await writer.append('/a.html', item)
        await reader.coherence.inStep()
        const { site } = reader
        const held = site.inMemory('/a.html')
        if (!held) throw new Error('nothing is in memory')
        const stored = await site.store.find('/a.html')
        expect(held.resource).to.deep.equal(stored)
        const body = stored && (await site.store.body(stored))
        if (!body || !('bytes' in body)) throw new Error('there is no body')
        expect(Buffer.from(held.bytes ?? []).equals(Buffer.from(body.bytes))).to.equal(true)
        expect(held.profile).to.deep.equal(JSON.parse((await site.store.derived('/a.html', 'profile')) ?? ''))
        if (i % 2 === 0) await isTrue(reader, ['/a.html'])
      }
    })

  it('RULE-11 edits that are committed together are followed without loading anything, one by one and as the store has them', async () => {
    const [writer, reader] = await two(localLeases())
    await writer.put('/a.html', page('<ul id="l"></ul>'))
    for (const each of [writer, reader]) await isTrue(each, ['/a.html'])
    let [underWay, most] = [0, 0]
    const { store } = writer.site
    const commit = store.commit.bind(store)
    store.commit = async asked => {
      most = Math.max(most, ++underWay)
      const result = await commit(asked)
      underWay--
      return result
    }
    // On a machine that is busy with something else an edit may not be made in time to go with others.
    for (let i = 0; most < 3; i++) {
      await Promise.all(Array.from({ length: 8 }, (_, n) => writer.append('/a.html', `${i} ${n}`)))
      await reader.coherence.inStep()
      const stored = await reader.site.store.find('/a.html')
      expect(reader.site.inMemory('/a.html')?.resource).to.deep.equal(stored)
      await isTrue(reader, ['/a.html'])
      await writer.coherence.inStep()
    }
  })

  it('RULE-11 an edit of a version that is not held, and one behind many others, are read from the store', async () => {
    const [one, other] = await two(localLeases())
    await one.put('/a.html', page('<ul id="l"></ul>'))
    await isTrue(other, ['/a.html'])
    await one.put('/a.html', page('<ol></ol><ul id="l"></ul>'))
    await one.append('/a.html', 'x')
    await isTrue(other, ['/a.html'])
    for (let i = 0; i < 40; i++) await one.append('/a.html', `${i}`)
    await isTrue(other, ['/a.html'])
    expect((await textOf(other, '/a.html'))?.match(/<li>/g)).to.have.length(41)
  })
})
