import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { Access } from '../../../pipeline/access/decision.ts'
import { Membership } from '../../../pipeline/access/groups.ts'
import { principalFromClaims } from '../../../pipeline/access/principal.ts'
import { type Retyped, retyped } from '../../../pipeline/declarations/retype.ts'
import { Fault } from '../../../pipeline/fault.ts'
import { noCode } from '../../../pipeline/model/code.ts'
import { schemaGroups } from '../../../pipeline/site/schema-groups.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import type { TreeDocument } from '../../../pipeline/tree/nodes.ts'
import { isPinned } from '../../../pipeline/tree/pins.ts'
import type { Steps } from '../../../pipeline/tree/steps.ts'
import { makeCollection, removeTree, transferTree } from '../../../pipeline/write/collection.ts'
import { NS, page } from '../../support/content.ts'
import { turnsOf } from '../../support/turns.ts'
import { code, type HostedSite, openHosted } from './hosted.ts'
import { instance, meta, SCHEMA_HOST, schema } from './markup.ts'

const RULE = 'x:Rule'
const CREW = 'x:Crew'
const RULES = `${NS}/AuthorizationRule`
const GROUP = `${NS}/Group`

describe('Subtypes of rules and groups', () => {
  let hosted: HostedSite
  beforeEach(async () => {
    hosted = await openHosted({
      ...noCode,
      includes: async ({ implementation }, { element }, email) => {
        const domain = element.childNodes.find(node => 'attrs' in node && node.attrs[1]?.name === 'content')
        const value = domain && 'attrs' in domain ? domain.attrs[1]?.value : ''
        if (implementation.source === 'throws') throw new Error('no')
        return { value: implementation.source === 'domain' && email.endsWith(`@${value}`) }
      },
    })
  })
  afterEach(() => hosted.close())

  const rule = (type: string, actor = '*') =>
    instance(type, { actor, method: 'PUT', resource: '/open.html', action: 'Allow' })
  /** Whether somebody may PUT /open.html. */
  async function may(email?: string): Promise<boolean> {
    const { site } = hosted
    const principal = email ? principalFromClaims({ sub: 's', email, email_verified: true }, []) : undefined
    const membership = new Membership(principal, schemaGroups(site))
    await membership.resolveGroups(site.rules.groups())
    const facts = { method: 'PUT', path: '/open.html', headers: () => undefined, queryString: '' }
    const access = new Access(site.rules, { facts, ...(principal && { principal }) }, site.settings, () => membership)
    return access.permit('PUT', '/open.html')
  }

  it('SEC-12 RULE-12 others have their turn while many stored items become rules', async () => {
    const tree = parseDocument('html', page(rule(RULE).repeat(2500)))
    const vocabulary = { ns: NS, schemaHost: SCHEMA_HOST }
    let found: Retyped | undefined
    const turns = await turnsOf(async () => {
      found = await retyped(
        { changes: [] },
        {
          store: { lookup: async () => [{ path: '/rules.html', item: '1' }], version: async () => 1 },
          before: { ...vocabulary, subtypes: new Map() },
          after: { ...vocabulary, subtypes: new Map([[RULES, new Set([RULE])]]) },
          declared: () => undefined,
          brought: () => undefined,
          read: async () => ({ tree, version: 1 }),
        },
      )
    })
    expect(found?.changes.map(({ op }) => op)).to.deep.equal(['derive'])
    expect(turns).to.be.above(1)
    expect(isPinned(tree)).to.equal(false)
  })

  it('SEC-12 RULE-12 others have their turn while the document of an edit is read by other types', async () => {
    const { site } = hosted
    await hosted.put('/both.html', page(`<ul id="list">${rule(RULE)}</ul>`))
    const commit = site.commit.bind(site)
    let [isOthersTurn, markup] = [false, '']
    function* lasting({ source }: TreeDocument): Steps<string> {
      for (const end = performance.now() + 2000; !isOthersTurn && performance.now() < end; ) yield
      return source
    }
    site.commit = async (asked, written) => {
      setImmediate(() => {
        isOthersTurn = true
      })
      markup = (await written?.[0]?.show?.(lasting)) ?? ''
      expect(isOthersTurn).to.equal(true)
      return commit(asked, written)
    }
    await hosted.append('/both.html', '<li>new</li>')
    expect(markup).to.include('<li>new</li></ul>')
  })

  it('RULE-12 an item of a type below the rule is one, from the commit that makes it so', async () => {
    await hosted.put('/rules.html', page(rule(RULE)))
    expect(await may()).to.equal(false)
    await hosted.put('/model.html', page(schema(RULE, { parent: RULES })))
    expect(await may()).to.equal(true)
    await hosted.put('/more.html', page(rule(RULE).replace('Allow', 'Deny')))
    expect(await may()).to.equal(false)
    await hosted.put('/more.html', page('nothing'))
    await hosted.put('/model.html', page(schema(RULE, { parent: 'x:other' })))
    expect(await may()).to.equal(false)
    // Along a chain of several documents.
    await hosted.put('/chain.html', page(schema('x:other', { parent: RULES })))
    expect(await may()).to.equal(true)
  })

  it('SEC-4 items that may not be rules keep the type from becoming one', async () => {
    const heavy = instance(RULE, { actor: '*', method: 'PUT', resource: `/${'{a,b}'.repeat(8)}`, action: 'Allow' })
    const model = schema(RULE, { parent: RULES })
    await hosted.put('/many.html', page(heavy.repeat(1000)))
    for (const [path, html] of [
      ['/model.html', page(model)],
      ['/many.html', page(model + heavy.repeat(1000))],
    ] as const) {
      const refusal = await hosted.put(path, html).then(String, (fault: Fault) => fault)
      expect(refusal, path).to.be.an.instanceOf(Fault).and.include({ status: 422 })
      expect(String(refusal)).to.match(/\/many\.html .*too many paths/)
    }
    expect(await may()).to.equal(false)
  })

  it('in the very document that declares the type', async () => {
    await hosted.put('/both.html', page(schema(RULE, { parent: RULES }) + rule(RULE)))
    expect(await may()).to.equal(true)
    await hosted.put('/both.html', page(rule(RULE)))
    expect(await may()).to.equal(false)
  })

  it('in a document that was read before the commit and is stored after it', async () => {
    const { site } = hosted
    const later = await site.leases.hold(site.store.name, ['/rules.html'], async () => {
      const written = hosted.put('/rules.html', page(rule(RULE)))
      await hosted.put('/model.html', page(schema(RULE, { parent: RULES })))
      return { written }
    })
    await later.written
    expect(await may()).to.equal(true)
  })

  it('are found again when the site is opened', async () => {
    await hosted.put('/rules.html', page(rule(RULE)))
    await hosted.put('/model.html', page(schema(RULE, { parent: RULES })))
    const reopened = await hosted.reopen()
    expect([...reopened.rules.documentsUnder('/')]).to.deep.equal(['/rules.html'])
    // Made anew from nothing but the documents, too.
    const anew = await hosted.reopen(true)
    expect([...anew.rules.documentsUnder('/')]).to.deep.equal(['/rules.html'])
  })

  describe('RULE-12 where the document of their schema goes, and others with it', () => {
    const model = page(schema(RULE, { parent: RULES }))
    const rules = page(rule(RULE))
    const common = { op: 'move', deep: true, overwrite: true, cause: {} } as const
    const remove = (path: string) => removeTree(hosted.site, { path, cause: {} })
    const transfer = (op: 'move' | 'copy', from: string, to: string) =>
      transferTree(hosted.site, { ...common, op, from, to })
    const cases: [name: string, files: Record<string, string>, work: () => Promise<unknown>, left: string[]][] = [
      ['a folder with both is removed', { '/in/rules.html': rules, '/in/model.html': model }, () => remove('/in/'), []],
      [
        'a folder with both is replaced',
        { '/in/rules.html': rules, '/in/model.html': model, '/of/a.html': page('a') },
        () => transfer('move', '/of/', '/in/'),
        [],
      ],
      [
        'the folder of the schema is replaced by that of the rules',
        { '/in/model.html': model, '/of/rules.html': rules },
        () => transfer('move', '/of/', '/in/'),
        ['/in/rules.html'],
      ],
      [
        'and by a copy of it',
        { '/in/model.html': model, '/of/rules.html': rules },
        () => transfer('copy', '/of/', '/in/'),
        ['/in/rules.html', '/of/rules.html'],
      ],
      [
        'the schema is replaced by the rules',
        { '/in/model.html': model, '/of/rules.html': rules },
        () => transfer('move', '/of/rules.html', '/in/model.html'),
        ['/in/model.html'],
      ],
    ]
    for (const [name, files, work, left] of cases)
      it(`its rules are none any more: ${name}`, async () => {
        for (const folder of ['/in/', '/of/']) await makeCollection(hosted.site, folder)
        for (const [path, text] of Object.entries(files)) await hosted.put(path, text)
        expect(await may()).to.equal(true)
        await work()
        expect(await may()).to.equal(false)
        expect(hosted.site.rules.documentsUnder('/')).to.deep.equal([])
        const reopened = await hosted.reopen()
        expect(reopened.rules.documentsUnder('/')).to.deep.equal([])
        for (const path of left) expect(await hosted.text(path), path).to.equal(rules)
      })

    it('they are rules where a file comes to be a document that declares the type as well', async () => {
      await hosted.put('/rules.html', page(rule(RULES)))
      const both = page(schema(RULE, { parent: RULES }) + rule(RULE).replace('Allow', 'Deny'))
      await hosted.put('/both.txt', both, 'text/plain')
      expect(await may()).to.equal(true)
      await transfer('move', '/both.txt', '/both.html')
      expect(await may()).to.equal(false)
      expect(hosted.site.rules.documentsUnder('/').sort()).to.deep.equal(['/both.html', '/rules.html'])
    })
  })

  describe('GRP-4 groups', () => {
    const crew = (inside: string) => `<p itemscope itemtype="${CREW}">${inside}</p>`
    const includes = (source: string) =>
      `<div itemprop="property" itemscope itemtype="${NS}/Method">${meta('name', 'includes')}${code('implementation', source)}</div>`
    const members = meta('domain', 'bench.example') + meta('name', 'crew') + meta('member', 'guest@other.example')

    beforeEach(() => hosted.put('/rules.html', page(rule(RULES, 'crew') + crew(members))))

    it('without a method of their own go by their members', async () => {
      expect(await may('guest@other.example')).to.equal(false)
      await hosted.put('/model.html', page(schema(CREW, { parent: GROUP })))
      expect([await may('guest@other.example'), await may('ida@bench.example')]).to.deep.equal([true, false])
    })

    it('with one go by that, theirs or the nearest', async () => {
      await hosted.put(
        '/model.html',
        page(schema('x:Base', { parent: GROUP }, includes('domain')) + schema(CREW, { parent: 'x:Base' })),
      )
      expect([await may('guest@other.example'), await may('ida@bench.example')]).to.deep.equal([false, true])
      await hosted.put(
        '/model.html',
        page(
          schema('x:Base', { parent: GROUP }, includes('domain')) + schema(CREW, { parent: 'x:Base' }, includes('no')),
        ),
      )
      expect([await may('guest@other.example'), await may('ida@bench.example')]).to.deep.equal([false, false])
    })

    it('GRP-5 one that fails includes nobody', async () => {
      await hosted.put('/model.html', page(schema(CREW, { parent: GROUP }, includes('throws'))))
      expect(await may('ida@bench.example')).to.equal(false)
    })

    it('GRP-5 one whose page changes while it is asked does not answer by what stands in its place then', async () => {
      const { site } = hosted
      await hosted.put('/model.html', page(schema(CREW, { parent: GROUP }, includes('domain'))))
      const principal = principalFromClaims({ sub: 's', email: 'ida@bench.example', email_verified: true }, [])
      const find = site.find.bind(site)
      const other = meta('domain', 'other.example') + meta('name', 'crew')
      const band = crew(members.replace('crew', 'band'))
      for (const before of [crew(other), `<i>x</i>${crew(other)}`]) {
        await hosted.put('/rules.html', page(before))
        const after = before.replace(crew(other), band + crew(other))
        let isFirst = true
        site.find = async path => {
          if (isFirst) {
            isFirst = false
            await hosted.put('/rules.html', page(after))
          }
          return find(path)
        }
        try {
          const membership = new Membership(principal, schemaGroups(site))
          const [group] = site.rules.groups()
          expect(group?.name).to.equal('crew')
          await membership.resolveGroups(group ? [group] : [])
          expect(isFirst).to.equal(false)
          expect(group && membership.includes(group)).to.equal(undefined)
        } finally {
          site.find = find
        }
      }
    })

    it('are found where they stand after the page has changed', async () => {
      await hosted.put('/model.html', page(schema(CREW, { parent: GROUP }, includes('domain'))))
      await hosted.put('/rules.html', page(`<i>x</i>${rule(RULES, 'crew')}<b>y</b>${crew(members)}`))
      expect(await may('ida@bench.example')).to.equal(true)
    })
  })
})
