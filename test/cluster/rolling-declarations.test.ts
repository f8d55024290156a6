import { expect } from 'chai'
import { describe, it } from 'mocha'
import { readForStorage, storedForm } from '../../pipeline/declarations/derive.ts'
import { KIND_NAMES, KINDS } from '../../pipeline/declarations/kinds.ts'
import { DERIVATION, OUTDATED } from '../../pipeline/store/derivation.ts'
import { done, type Open, type Opened, openTemporary, put } from '../pipeline/store/fixture.ts'
import { openEmpty } from '../pipeline/store/postgres/fixture.ts'
import { asBefore } from '../pipeline/store/release-before.ts'
import { NS, page, ruleMarkup } from '../support/content.ts'
import { type Member, members } from './members.ts'

const PROFILE = '{"utf8":true,"types":[],"namespaces":[]}'
const VOCABULARY = { ns: NS, schemaHost: 'https://schema.org' }
const RULE = page(ruleMarkup(['*', 'PUT', 'Allow', '/a']))

describe('servers of the release before, on one store with newer ones', () => {
  const stores: [name: string, open: Open][] = [
    ['SQLite', openTemporary],
    ['PostgreSQL', openEmpty],
  ]
  for (const [name, open] of stores)
    describe(name, () => {
      const { member } = members()

      /** Two members of this release, and one that writes documents without the kind that it does not know. */
      async function rolling(
        work: (old: (path: string) => Promise<void>, join: () => Promise<Member>, opened: Opened) => Promise<void>,
      ) {
        const opened = await open({ shared: true })
        try {
          await work(
            async path => {
              const store = await opened.another()
              await done(store.site('a.example'), [put(path, RULE, { derived: { profile: PROFILE } })])
              await opened.raw(asBefore(path.slice(path.lastIndexOf('/') + 1), { profile: PROFILE }))
              await store.close()
            },
            async () => member(await opened.another()),
            opened,
          )
        } finally {
          await opened.close()
        }
      }

      const declaring = ({ site }: Member) => site.rules.documentsUnder('/')

      it(`RULE-11 ${name}: what they leave out counts with every newer one that is running, for the whole site`, async () => {
        await rolling(async (old, join) => {
          const [one, other] = [await join(), await join()]
          await old('/in/rules.html')
          expect(declaring(one)).to.deep.equal([])
          for (const each of [one, other, one]) {
            await each.coherence.inStep()
            expect(declaring(each)).to.deep.equal(['/in/rules.html'])
          }
          expect(one.site.accessVersion).to.equal(other.site.accessVersion).and.to.be.above(0)
          await old('/later.html')
          await Promise.all([one, other].map(each => each.coherence.inStep()))
          await Promise.all([one, other].map(each => each.coherence.inStep()))
          for (const each of [one, other]) expect(declaring(each)).to.deep.equal(['/in/rules.html', '/later.html'])
          await one.put('/other.html', page('written by what both of them know'))
        })
      })

      it(`RULE-11 ${name}: what they find in markup that they read otherwise is found no more`, async () => {
        await rolling(async (_, join, { another, raw }) => {
          const { site, coherence } = await join()
          expect(await site.documentsWith([['.k']])).to.deep.equal([])
          const [path, hidden] = ['/cdata.html', `<p class="k">${ruleMarkup(['*', 'PUT', 'Allow', '/b'])}</p>`]
          const text = page(`<svg><desc><![CDATA[>${hidden}]]></desc></svg>`)
          // Where CDATA is a comment, it is markup.
          const read = await readForStorage(Buffer.from(page(hidden)), 'html', VOCABULARY)
          const { derived, entries } = storedForm(read.derived)
          const old = await another()
          await done(old.site('a.example'), [put(path, text, { derived, entries })])
          await raw(asBefore('cdata.html', { ...derived, tokens: '["svg","desc",".k"]' }))
          await old.close()
          await coherence.inStep()
          expect(site.rules.documentsUnder('/')).to.deep.equal([])
          const { store } = site
          expect([await store.entries(path), await store.derived(path, 'items')]).to.deep.equal(['', '[]'])
          expect(await site.documentsWith([['.k']])).to.deep.equal([])
        })
      })

      it(`RULE-11 ${name}: what they leave out counts with a newer one that comes later`, async () => {
        await rolling(async (old, join) => {
          await old('/rules.html')
          const later = await join()
          expect(declaring(later)).to.deep.equal(['/rules.html'])
          const { store } = later.site
          expect(await store.derived('/rules.html', OUTDATED)).to.equal(undefined)
        })
      })
    })
})

describe('The number of a derivation', () => {
  it('RULE-11 rises with the kinds of declarations and their forms', () => {
    // Whoever changes a line here adds one, and a step to the tables of both stores that names the new number.
    const known: Record<number, string> = {
      1: 'model/1 access/1 reactions/1',
      2: 'model/1 access/1 reactions/2',
      3: 'model/1 access/1 reactions/2', // CDATA in SVG and MathML
      4: 'model/1 access/1 reactions/2', // values as pages show them
    }
    expect(KIND_NAMES.map(name => `${name}/${KINDS[name].form}`).join(' ')).to.equal(known[DERIVATION])
  })
})
