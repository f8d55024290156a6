import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { page, type RuleLine } from '../../support/content.ts'
import { user } from '../access/site.ts'
import { bodyOf, property } from './event-source.ts'
import {
  bodiesOf,
  type Change,
  resetOf,
  settled,
  until,
  type WatchedSite,
  type WatchOptions,
  watchedSite,
} from './watching.ts'

const PATH = '/d.html'
const OPEN: RuleLine = ['*', 'GET', 'Allow', '/*']
const DOC = page(
  '<ul id="l"><li id="a" class="secret">a</li><li id="b">b</li></ul><div id="box" class="hidden"></div><p id="p" data-owner="ann">p</p>',
)

describe('permission of streams', () => {
  let site: WatchedSite

  beforeEach(async () => {
    site = await watchedSite()
  })
  afterEach(() => site.close())

  const ruled = async (...lines: RuleLine[]) => {
    await site.rules(...lines)
    await site.put(PATH, DOC)
  }

  describe('of the whole', () => {
    it('EVT-65 permission withdrawn: nothing more, not even the next event, and the end without reset', async () => {
      await ruled(OPEN)
      const { reader } = await site.watch(PATH)
      await site.rules(['*', 'GET', 'Deny', PATH], OPEN)
      await site.write(PATH, ['PUT', '#b', '<li id="b">B</li>'])
      expect(reader.events.map(({ event }) => event)).to.deep.equal(['platform-connection'])
      await until(() => reader.ending === 'ended')
      expect(site.streams.size).to.equal(0)
    })

    it('EVT-65 DEC-7 without any event the end comes at the next keepalive', async () => {
      await ruled(OPEN)
      const { reader } = await site.watch(PATH)
      await site.rules(['*', 'GET', 'Deny', PATH], OPEN)
      expect(reader.ending).to.equal(undefined)
      await site.advance(20_000)
      expect(reader.ending).to.equal('ended')
      expect(reader.text).not.to.include('ping')
    })

    it('EVT-65 the default never admits: without its rule a stream ends although the page stays readable', async () => {
      await ruled(['*', 'GET', 'Allow', PATH])
      const { reader } = await site.watch(PATH)
      await site.rules(['*', 'GET', 'Allow', '/other.html'])
      await site.advance(20_000)
      expect(reader.ending).to.equal('ended')
    })

    it('EVT-65 permission withdrawn while a client does not read: what waits for it goes to nobody', async () => {
      await ruled(OPEN)
      const { reader } = await site.watch(PATH)
      reader.stop()
      for (const text of ['on its way', 'waiting', 'behind'])
        await site.write(PATH, ['PUT', '#b', `<li id="b">${text}</li>`])
      await site.rules(['*', 'GET', 'Deny', PATH], OPEN)
      reader.resume()
      await until(() => reader.ending === 'ended')
      expect(bodiesOf(reader.mutations)).to.deep.equal(['<li id="b">on its way</li>'])
    })

    it('EVT-65 EVT-3 so it does not where a trigger has come, which ends the stream without any event, too', async () => {
      await ruled(OPEN)
      let isGuardedAnew = false
      const { reader } = await site.watch(PATH, { isGuardedAnew: () => isGuardedAnew })
      const idle = await site.watch('/other.html', { isGuardedAnew: () => isGuardedAnew })
      reader.stop()
      for (const text of ['on its way', 'waiting', 'behind'])
        await site.write(PATH, ['PUT', '#b', `<li id="b">${text}</li>`])
      isGuardedAnew = true
      reader.resume()
      await until(() => reader.ending === 'ended')
      expect(bodiesOf(reader.mutations)).to.deep.equal(['<li id="b">on its way</li>'])
      await site.advance(20_000)
      expect(idle.reader.ending).to.equal('ended')
    })

    it('EVT-65 only those who lost it are cut off; others do not notice', async () => {
      await ruled(OPEN)
      const ann = await site.watch(PATH, { principal: user('ann') })
      const bob = await site.watch(PATH, { principal: user('bob') })
      const nobody = await site.watch(PATH)
      await site.rules(OPEN, ['ann', 'GET', 'Deny', PATH])
      await site.write(PATH, ['DELETE', '#b'])
      expect([ann, bob, nobody].map(({ reader }) => reader.mutations.length)).to.deep.equal([0, 1, 1])
      expect(ann.reader.ending).to.equal('ended')
    })

    it('EVT-65 a change of rules in the watched page counts for the event that tells of it', async () => {
      await ruled(OPEN)
      const { reader } = await site.watch('/rules.html')
      await site.rules(['*', 'GET', 'Deny', '/*'])
      expect(reader.mutations).to.deep.equal([])
      expect(reader.ending).to.equal('ended')
    })
  })

  describe('of elements', () => {
    const secret: RuleLine = ['*', 'GET', 'Deny', PATH, '.secret']

    /** What a subscriber gets of one change: its body, `left out`, or `reset`. */
    async function shown(change: Change, options: WatchOptions = {}): Promise<string> {
      const { reader } = await site.watch(PATH, options)
      const from = (await site.store.site('a.example').events(PATH)).at(-1)?.id ?? ''
      await site.write(PATH, change)
      const live = told(reader.events.slice(1))
      // A replay obeys the same test.
      const again = await site.watch(PATH, { ...options, lastEventId: from })
      await site.write(PATH, ['POST', 'body', '<i>seen by all</i>'])
      await until(() => again.reader.events.length > reader.events.length - 1)
      await until(() => again.reader.text.includes('seen by all'))
      expect(told(again.reader.events.slice(1, -1)), 'in the replay').to.equal(live)
      return live
    }

    function told(events: readonly { event: string; data: string }[]): string {
      if (events.length === 0) return 'left out'
      return events.map(({ event, data }) => (event === 'mutation' ? bodyOf(data) : event)).join(' ')
    }

    const cases: [title: string, change: Change, shown: string][] = [
      ['PUT of an element nobody hides', ['PUT', '#b', '<li id="b">B</li>'], '<li id="b">B</li>'],
      ['PUT that keeps an element hidden', ['PUT', '#a', '<li id="a" class="secret">A</li>'], 'left out'],
      ['PUT that hides an element', ['PUT', '#b', '<li id="b" class="secret">B</li>'], 'left out'],
      ['PUT that shows an element', ['PUT', '#a', '<li id="a">A</li>'], '<li id="a">A</li>'],
      ['PUT of several, one of them hidden', ['PUT', '#b', '<li>1</li><li class="secret">2</li>'], 'left out'],
      ['POST of a visible element', ['POST', '#l', '<li>x</li>'], '<li>x</li>'],
      ['POST of a hidden element', ['POST', '#l', '<li class="secret">x</li>'], 'left out'],
      [
        'POST of a hidden element beside a visible one',
        ['POST', '#l', '<li>1</li><li class="secret">2</li>'],
        'left out',
      ],
      ['POST of text into a hidden element', ['POST', '#a', 'words'], 'left out'],
      ['POST of text into a visible one', ['POST', '#b', 'words'], 'words'],
      ['DELETE of a visible element', ['DELETE', '#b'], ''],
      ['DELETE of a hidden element', ['DELETE', '#a'], 'left out'],
      ['MOVE of a hidden element', ['MOVE', '#a', '#b', 'after'], 'left out'],
      ['MOVE of a visible element', ['MOVE', '#b', '#a', 'before'], '<li id="b">b</li>'],
    ]
    for (const [title, change, expected] of cases)
      it(`EVT-66 ${title}: ${expected === 'left out' ? expected : 'told'}`, async () => {
        await ruled(OPEN, secret)
        expect(await shown(change)).to.equal(expected)
      })

    it('EVT-66 a place can hide what is moved there: the element counts as it is afterwards', async () => {
      await ruled(OPEN, ['*', 'GET', 'Deny', PATH, '#box > *'])
      expect(await shown(['MOVE', '#b', '#box', 'append'])).to.equal('left out')
      expect(await shown(['MOVE', '#b', '#l', 'append'])).to.equal('<li id="b">b</li>')
    })

    it('EVT-66 being inside of what is hidden hides nothing (KEY-1)', async () => {
      await ruled(OPEN, ['*', 'GET', 'Deny', PATH, '#box'])
      expect(await shown(['POST', '#box', '<b>x</b>'])).to.equal('<b>x</b>')
    })

    it('EVT-66 tiers decide as for a GET of the element', async () => {
      await ruled(OPEN, secret, ['ann', 'GET', 'Allow', PATH])
      const change: Change = ['PUT', '#a', '<li id="a" class="secret">A</li>']
      expect(await shown(change)).to.equal('left out')
      expect(await shown(change, { principal: user('ann') })).to.equal('<li id="a" class="secret">A</li>')
      expect(await shown(change, { principal: user('bob') })).to.equal('left out')
    })

    it('EVT-66 the sequence of ids continues behind what was left out', async () => {
      await ruled(OPEN, secret)
      const { reader } = await site.watch(PATH)
      await site.write(PATH, ['PUT', '#b', '<li id="b">1</li>'])
      await site.write(PATH, ['DELETE', '#a'])
      await site.write(PATH, ['PUT', '#b', '<li id="b">2</li>'])
      expect(bodiesOf(reader.mutations)).to.deep.equal(['<li id="b">1</li>', '<li id="b">2</li>'])
      const again = await site.watch(PATH, { lastEventId: reader.mutations[0]?.id ?? '' })
      await settled(again.reader, 2)
      expect(again.reader.mutations).to.deep.equal(reader.mutations.slice(1))
    })

    describe('that a client has not read yet', () => {
      const SECRET = '<li id="b" class="secret">1</li>'
      /** Somebody stops reading, three changes come, the rules change, and the client reads on. @returns what it was told */
      async function readLater(then: readonly RuleLine[], ...meanwhile: Change[]): Promise<string> {
        await ruled(OPEN, ['bob', 'GET', 'Deny', PATH, '.secret'])
        const { reader } = await site.watch(PATH)
        reader.stop()
        await site.write(PATH, ['PUT', '#p', '<p id="p">on its way</p>'])
        await site.write(PATH, ['POST', '#l', SECRET])
        await site.write(PATH, ['POST', '#l', '<li>2</li>'])
        await site.rules(OPEN, ...then)
        for (const change of meanwhile) await site.write(PATH, change)
        reader.resume()
        await site.write(PATH, ['POST', '#l', '<li>last</li>'])
        await until(() => reader.text.includes('<li>last</li>'))
        expect(site.failures).to.deep.equal([])
        return told(reader.events.slice(1))
      }
      const cases: [title: string, rule: RuleLine, meanwhile: Change[], told: string[]][] = [
        ['goes by the rules of that moment', secret, [], ['<li>2</li>']],
        [
          'does so behind an event by the new rules, once',
          secret,
          [['POST', '#l', '<li>3</li>']],
          ['<li>2</li>', '<li>3</li>'],
        ],
        ['is a reset where the rules were not tried', ['*', 'GET', 'Deny', PATH, '[class]'], [], ['reset']],
        ['goes as it is where the rules concern others', ['bob', 'GET', 'Deny', '/other'], [], [SECRET, '<li>2</li>']],
      ]
      for (const [title, rule, meanwhile, expected] of cases)
        it(`EVT-66 EVT-35 what waits ${title}`, async () => {
          const all = ['<p id="p">on its way</p>', ...expected, '<li>last</li>']
          expect(await readLater([rule], ...meanwhile)).to.equal(all.join(' '))
        })

      for (const [title, rules] of [
        ['', [OPEN]],
        [', whatever rules came before', [OPEN, secret]],
      ] as const)
        it(`EVT-65 EVT-50 a session that ends takes along what waited${title}`, async () => {
          await ruled(OPEN)
          const { reader, stream } = await site.watch(PATH)
          reader.stop()
          for (const text of ['on its way', 'waiting'])
            await site.write(PATH, ['PUT', '#p', `<p id="p" class="secret">${text}</p>`])
          await site.rules(...rules)
          stream.endSession('session-invalidated')
          reader.resume()
          await until(() => reader.ending === 'ended')
          expect(told(reader.events.slice(1))).to.equal('<p id="p" class="secret">on its way</p> reset')
        })
    })

    it('EVT-66 a whole document comes without its body to whom some of it is refused', async () => {
      await ruled(OPEN, ['bob', 'GET', 'Deny', PATH, '.secret'])
      const [nobody, bob] = [await site.watch(PATH), await site.watch(PATH, { principal: user('bob') })]
      await site.put(PATH, `${DOC}<!-- new -->`)
      await site.remove(PATH)
      expect(bodiesOf(nobody.reader.mutations)).to.deep.equal([`${DOC}<!-- new -->`, ''])
      expect(bodiesOf(bob.reader.mutations)).to.deep.equal(['', ''])
      for (const name of ['method', 'selector', 'etag', 'path', 'host'])
        expect(property(bob.reader.mutations[0]?.data ?? '', name), name).to.equal(
          property(nobody.reader.mutations[0]?.data ?? '', name),
        )
      expect(bob.reader.mutations[0]?.id).to.equal(nobody.reader.mutations[0]?.id)
    })

    it('EVT-66 a weaker refusal of elements takes no body away', async () => {
      await ruled(['ann', 'GET', 'Allow', '/*'], secret)
      const { reader } = await site.watch(PATH, { principal: user('ann') })
      await site.put(PATH, DOC)
      expect(bodiesOf(reader.mutations)).to.deep.equal([DOC])
    })

    it('EVT-67 rules with lookups are tried for those who watch', async () => {
      await ruled(OPEN, ['authenticated', 'GET', 'Deny', PATH, `:not([data-owner="\${request.auth.sub}"])`])
      const [ann, bob] = [
        await site.watch(PATH, { principal: user('ann') }),
        await site.watch(PATH, { principal: user('bob') }),
      ]
      await site.write(PATH, ['PUT', '#p', '<p id="p" data-owner="bob">p</p>'])
      expect([ann, bob].map(({ reader }) => reader.mutations.length)).to.deep.equal([0, 1])
      await site.write(PATH, ['DELETE', '#p'])
      expect([ann, bob].map(({ reader }) => reader.mutations.length)).to.deep.equal([0, 2])
    })

    for (const [one, other, title] of [
      ['[title="a  b"]', '[title="a b"]', 'a  b'],
      ["[title='a\tb']", "[title='a b']", 'a\tb'],
      ['.\\61 b', '.\\61  b', 'any'],
      ['.c\u00a0d', '.c d', 'any'],
    ] as const)
      it(`EVT-66 white space within ${JSON.stringify(one)} is no other`, async () => {
        for (const selectors of [
          [one, other],
          [other, one],
        ]) {
          await ruled(OPEN, ...selectors.map((each): RuleLine => ['*', 'GET', 'Deny', PATH, each]))
          const { reader } = await site.watch(PATH)
          await site.write(PATH, ['PUT', '#p', `<p id="p" class="c\u00a0d ab" title="${title}">p</p>`])
          await site.write(PATH, ['PUT', '#b', '<li id="b">b</li>'])
          expect(bodiesOf(reader.mutations), selectors.join()).to.deep.equal(['<li id="b">b</li>'])
        }
      })

    it('EVT-67 lookups whose values differ in white space alone are those of others', async () => {
      await ruled(OPEN, ['authenticated', 'GET', 'Deny', PATH, `:not([data-owner="\${request.auth.name}"])`])
      const called = (name: string) => site.watch(PATH, { principal: user(name, { name }) })
      const names = ['Ann Lee', 'Ann  Lee', 'Ann\tLee']
      const watching = []
      for (const name of names) watching.push(await called(name))
      const written = names.map(name => `<p id="p" data-owner="${name}">p</p>`)
      for (const element of written) await site.write(PATH, ['PUT', '#p', element])
      expect(watching.flatMap(({ reader }) => bodiesOf(reader.mutations))).to.deep.equal(written)
    })

    it('EVT-67 what was not tried at commit is a reset: nothing is given away, nothing lost in silence', async () => {
      await ruled(OPEN)
      const from = (await site.store.site('a.example').events(PATH)).at(-1)?.id ?? ''
      await site.write(PATH, ['PUT', '#b', '<li id="b">1</li>'])
      await site.write(PATH, ['PUT', '#b', '<li id="b">2</li>'])
      await site.rules(OPEN, ['*', 'GET', 'Deny', PATH, '#b'])
      const { reader } = await site.watch(PATH, { lastEventId: from })
      await until(() => reader.events.length > 1)
      await site.write(PATH, ['PUT', '#a', '<li id="a">3</li>'])
      await settled(reader, 3)
      expect(reader.events[1]).to.deep.equal(resetOf('events-expired'))
      expect(bodiesOf(reader.mutations), 'one reset says it all').to.deep.equal(['<li id="a">3</li>'])
    })

    it('EVT-67 a rule that came later and cannot refuse takes nothing away', async () => {
      await ruled(OPEN)
      const from = (await site.store.site('a.example').events(PATH)).at(-1)?.id ?? ''
      await site.write(PATH, ['PUT', '#b', '<li id="b">1</li>'])
      await site.rules(OPEN, ['*', 'GET', 'Allow', PATH, '#b'], ['bob', 'GET', 'Deny', PATH, '#b'])
      const { reader } = await site.watch(PATH, { lastEventId: from })
      await settled(reader, 2)
      expect(bodiesOf(reader.mutations)).to.deep.equal(['<li id="b">1</li>'])
    })
  })
})
