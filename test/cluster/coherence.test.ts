import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { LeaseError } from '../../pipeline/coordination/leases.ts'
import { localLeases } from '../../pipeline/coordination/local/leases.ts'
import { KIND_NAMES } from '../../pipeline/declarations/kinds.ts'
import { Coherence } from '../../pipeline/site/coherence.ts'
import type { ForeignCommit } from '../../pipeline/store/foreign.ts'
import { instance, schema } from '../pipeline/model/markup.ts'
import { NS, page, rulesPage } from '../support/content.ts'
import { type Member, members } from './members.ts'

const OWN_RULE = 'https://own.example/Rule'

describe('memory of several processes', () => {
  const { member, two, textOf, isTrue } = members()

  it('RULE-11 is told of nothing while nobody commits, and asks nothing of the store', async () => {
    const [one] = await two()
    expect(one.coherence.inStep()).to.equal(undefined)
  })

  it('RULE-11 whoever asks while others are being followed waits for them, too', async () => {
    const [one, other] = await two()
    await one.put('/a.html', page('old'))
    await other.coherence.inStep()
    await textOf(other, '/a.html')
    await one.put('/a.html', page('new'))
    const first = other.coherence.inStep()
    const second = other.coherence.inStep()
    expect(second).to.not.equal(undefined)
    await second
    expect(await textOf(other, '/a.html')).to.equal(page('new'))
    await first
    expect(other.coherence.inStep()).to.equal(undefined)
  })

  /** Holds back what the store answers to the next commit of a process, until the test lets it go. */
  function delayed({ site }: Member): { stored: Promise<void>; answer: () => void } {
    const stored = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const { store } = site
    const commit = store.commit.bind(store)
    store.commit = async changes => {
      store.commit = commit
      const result = await commit(changes)
      stored.resolve()
      await gate.promise
      return result
    }
    return { stored: stored.promise, answer: gate.resolve }
  }

  it('HTTP-4 a commit that another process overtakes leaves no old version behind', async () => {
    const [one, other] = await two()
    await one.put('/a.html', page('0'))
    const delay = delayed(one)
    const mine = one.put('/a.html', page('mine'))
    await delay.stored
    await other.put('/a.html', page('theirs'))
    await one.coherence.inStep()
    delay.answer()
    await mine
    await isTrue(one, ['/a.html'])
    expect(await textOf(one, '/a.html')).to.equal(page('theirs'))
  })

  it('DAV-90 a writer knows the work of whoever had the lease before, and does nothing in vain', async () => {
    const [one, other] = await two(localLeases())
    await one.put('/a.html', page('<ul id="l"></ul>'))
    let attempts = 0
    for (const { site } of [one, other]) {
      const { store } = site
      const commit = store.commit.bind(store)
      store.commit = changes => {
        attempts++
        return commit(changes)
      }
    }
    await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? one : other).append('/a.html', `${i}`)))
    expect(attempts).to.equal(20)
  })

  it('DAV-90 a writer that has lost its lease overwrites nothing: it commits to the version it knows, or starts again', async () => {
    const [one, other] = await two()
    await one.put('/a.html', page('<ul id="l"></ul>'))
    await other.coherence.inStep()
    // The members of this test have leases of their own, as if each had lost that of all.
    const { store } = one.site
    const commit = store.commit.bind(store)
    let attempts = 0
    store.commit = async changes => {
      if (attempts++ === 0) await other.append('/a.html', 'theirs')
      return commit(changes)
    }
    await one.append('/a.html', 'mine')
    expect(attempts).to.equal(2)
    await other.coherence.inStep()
    for (const each of [one, other])
      expect(await textOf(each, '/a.html')).to.equal(page('<ul id="l"><li>theirs</li><li>mine</li></ul>'))
  })

  it('DAV-90 without any lease in common two processes lose no write of each other', async () => {
    const [one, other] = await two()
    await one.put('/a.html', page('<ul id="l"></ul>'))
    const texts = Array.from({ length: 40 }, (_, i) => `item ${i}`)
    await Promise.all(
      [one, other].map(async (each, k) => {
        for (let i = k; i < texts.length; i += 2) await each.append('/a.html', texts[i] ?? '')
      }),
    )
    await one.coherence.inStep()
    const found = (await textOf(one, '/a.html'))?.match(/item \d+/g) ?? []
    expect([...found].sort()).to.deep.equal([...texts].sort())
  })

  for (const [title, work] of [
    ['goes', (of: Member) => of.remove('/c/')],
    ['moves', (of: Member) => of.move('/c/', '/d/')],
    ['is replaced', (of: Member) => of.move('/e/', '/c/')],
  ] as const)
    it(`RULE-11 rules come into a collection at the moment at which it ${title}: no rule outlives its document, none is lost`, async () => {
      const [one, other] = await two()
      await one.put('/c/a.html', page('a'))
      await one.put('/e/a.html', page('e'))
      await other.coherence.inStep()
      const paths = ['/c/a.html', '/c/b.html', '/d/a.html', '/d/b.html', '/e/a.html']
      // Of another process, whose commit this one has not followed yet.
      await other.put('/c/b.html', rulesPage(['*', 'PUT', 'Allow', '/w/*']))
      await work(one)
      for (const each of [one, other]) await isTrue(each, paths)
      // Of this process, which has not heard yet that the commit was carried out.
      await one.put('/c/a.html', page('a'))
      await one.put('/e/a.html', page('e'))
      const delay = delayed(one)
      const writing = one.put('/c/b.html', rulesPage(['*', 'PUT', 'Allow', '/v/*']))
      await delay.stored
      const { store } = one.site
      const commit = store.commit.bind(store)
      store.commit = async changes => {
        const result = await commit(changes)
        delay.answer()
        return result
      }
      await Promise.all([writing, work(one)])
      for (const each of [one, other]) await isTrue(each, paths)
    })

  it('RULE-11 rules that are overwritten by a process which has not heard of them yet are gone everywhere', async () => {
    const [one, other] = await two()
    const works = [
      (path: string) => one.put(path, page('without')),
      (path: string) => one.remove(path),
      (path: string) => one.move(path, `/moved${path}`),
      (path: string) => one.move('/plain.html', path),
    ]
    await one.put('/moved/x.html', page('x'))
    for (const [i, work] of works.entries()) {
      await one.put('/plain.html', page('plain'))
      // Never seen by the process that overwrites it, so that nothing in its memory is out of date but the rules.
      const path = `/n${i}.html`
      await other.put(path, rulesPage(['*', 'PUT', 'Allow', '/w/*']))
      await work(path)
      for (const each of [one, other]) await isTrue(each, [path, `/moved${path}`])
    }
  })

  it('RULE-11 a change of rules that another one overtakes leaves both in force', async () => {
    const [one, other] = await two()
    const delay = delayed(one)
    const mine = one.put('/mine.html', rulesPage(['*', 'PUT', 'Allow', '/mine/*']))
    await delay.stored
    await other.put('/theirs.html', rulesPage(['*', 'PUT', 'Allow', '/theirs/*']))
    await other.put('/mine.html', rulesPage(['*', 'PUT', 'Allow', '/replaced/*']))
    delay.answer()
    await mine
    await isTrue(one, ['/mine.html', '/theirs.html'])
  })

  it('RULE-11 rules of both are all there when both change them at once', async () => {
    const [one, other] = await two()
    const paths = Array.from({ length: 20 }, (_, i) => `/r${i}.html`)
    await Promise.all(
      paths.map((path, i) => (i % 2 === 0 ? one : other).put(path, rulesPage(['*', 'PUT', 'Allow', `/w${i}/*`]))),
    )
    for (const each of [one, other]) await isTrue(each, paths)
  })

  it('RULE-11 a site that is opened while others commit misses nothing', async () => {
    const [one, , opened] = await two()
    const paths = Array.from({ length: 30 }, (_, i) => `/r${i}.html`)
    const writing = Promise.all(paths.map(path => one.put(path, rulesPage(['*', 'PUT', 'Allow', path]))))
    const late: Member[] = []
    const store = await opened.another()
    late.push(await member(store))
    await writing
    for (const each of late) await isTrue(each, paths)
  })

  it('RULE-11 when commits cannot be told one by one everything is read again', async () => {
    const [one, other] = await two()
    await one.put('/a.html', rulesPage(['*', 'PUT', 'Allow', '/a/*']))
    await one.put('/b.html', page('old'))
    await other.coherence.inStep()
    await textOf(other, '/b.html')
    const { foreign } = other.store
    if (!foreign) throw new Error('the store is not shared')
    const read = foreign.read.bind(foreign)
    foreign.read = async () => ({ ...(await read()), commits: undefined })
    await one.put('/b.html', page('new'))
    await one.remove('/a.html')
    await one.put('/c.html', rulesPage(['*', 'PUT', 'Allow', '/c/*']))
    await isTrue(other, ['/a.html', '/b.html', '/c.html'])
    expect(await textOf(other, '/b.html')).to.equal(page('new'))
  })

  it('RULE-11 nothing is decided by memory that could not be brought in step; it is tried again', async () => {
    const [one, other] = await two()
    await one.put('/a.html', page('old'))
    await other.coherence.inStep()
    await textOf(other, '/a.html')
    const follow = other.site.follow.bind(other.site)
    let failures = 1
    other.site.follow = async (commits: readonly Omit<ForeignCommit, 'site'>[]) => {
      if (failures-- > 0) throw new Error('on purpose')
      return follow(commits)
    }
    await one.put('/a.html', page('new'))
    const outcome = await other.coherence.inStep()?.catch((error: Error) => error.message)
    expect(outcome).to.equal('on purpose')
    await other.coherence.inStep()
    expect(await textOf(other, '/a.html')).to.equal(page('new'))
    expect(other.coherence.inStep()).to.equal(undefined)
  })

  it('RULE-11 nobody writes by memory that could not be brought in step: they may come again', async () => {
    const [one, other] = await two(localLeases())
    await one.put('/a.html', page('<ul id="l"></ul>'))
    const { coherence } = other
    const inStep = coherence.inStep.bind(coherence)
    coherence.inStep = () => Promise.reject(new Error('on purpose'))
    const outcome = await other.append('/a.html', 'x').catch((error: unknown) => error)
    expect(outcome).to.be.instanceOf(LeaseError)
    coherence.inStep = inStep
    await other.append('/a.html', 'y')
    expect(await textOf(other, '/a.html')).to.equal(page('<ul id="l"><li>y</li></ul>'))
  })

  describe('what is declared, where memory reads it again in the middle of something else', () => {
    const rules = rulesPage(['*', 'PUT', 'Allow', '/w/*'])
    const foreign = (path: string) => ({ version: 1, paths: [path], raised: ['access'] })
    const isKnown = ({ site }: Member, path: string) => site.rules.document(path) !== undefined

    /** Holds back what the store tells a process of what a document declares, one answer after another. */
    function holding({ site: { store } }: Member, path: string) {
      const held: (() => void)[] = []
      let isOpen = false
      let told = () => {}
      const derived = store.derived.bind(store)
      store.derived = async (asked, name) => {
        const value = await derived(asked, name)
        if (asked === path && !isOpen)
          await new Promise<void>(go => {
            held.push(go)
            told()
          })
        return value
      }
      /** Settles when an answer is held back. */
      const waits = async () => {
        if (held.length === 0) await new Promise<void>(resolve => (told = resolve))
      }
      const letGo = async () => {
        await waits()
        held.shift()?.()
      }
      const open = () => {
        isOpen = true
        for (const go of held.splice(0)) go()
      }
      return { waits, letGo, open }
    }

    it('RULE-11 is known of every document that was read, whoever ends first', async () => {
      const [one, other] = await two()
      for (const path of ['/a.html', '/b.html']) await other.put(path, rules)
      const [a, b] = [holding(one, '/a.html'), holding(one, '/b.html')]
      const first = one.site.follow([foreign('/a.html')])
      await a.waits()
      const second = one.site.follow([foreign('/b.html')])
      await b.waits()
      // The first begins anew, as something has changed since, and ends behind the second.
      for (const _ of KIND_NAMES) await a.letGo()
      await a.waits()
      b.open()
      await second
      a.open()
      await first
      expect(['/a.html', '/b.html'].map(path => isKnown(one, path))).to.deep.equal([true, true])
    })

    it('RULE-11 is not moved once more by a move that was stored when it was read', async () => {
      const [one] = await two()
      await one.put('/c/a.html', rules)
      const { store } = one.site
      const counters = store.counters.bind(store)
      const counted = Promise.withResolvers<void>()
      const gate = Promise.withResolvers<void>()
      store.counters = async () => {
        store.counters = counters
        const told = await counters()
        counted.resolve()
        await gate.promise
        return told
      }
      const following = one.site.follow([foreign('/')])
      await counted.promise
      const { stored, answer } = delayed(one)
      const moved = one.move('/c/', '/d/')
      await stored
      gate.resolve()
      await following
      expect(isKnown(one, '/d/a.html')).to.equal(true)
      answer()
      await moved
      expect(isKnown(one, '/d/a.html')).to.equal(true)
    })

    it('RULE-11 is decided by no counter of a commit that is still to be followed', async () => {
      const [one, other] = await two()
      await other.put('/c/a.html', rules)
      await one.coherence.inStep()
      const known = one.site.accessVersion
      await other.put('/a.html', rules)
      const first = await one.store.foreign?.read()
      await other.remove('/c/a.html')
      await one.site.follow(first?.commits ?? [])
      expect(one.site.accessVersion).to.equal(known + 1)
      // It takes what was removed along in memory; the store has to say that it is not so.
      const changes = [{ op: 'move', from: '/c/', to: '/d/' } as const]
      expect(await one.site.commit({ changes })).to.include({ ok: false, reason: 'counter' })
      expect(one.site.accessVersion).to.equal(known + 2)
      await isTrue(one, ['/a.html', '/c/a.html', '/d/a.html'])
    })

    it('RULE-11 is not moved once more where only another document of those that are read declares anew', async () => {
      const [one, other] = await two()
      await one.put('/c/a.html', rules)
      await other.coherence.inStep()
      const { stored, answer } = delayed(one)
      const moved = one.move('/c/', '/d/')
      await stored
      // One names what is moved and declares nothing, and the other is elsewhere, and declares something of another kind.
      await other.coherence.inStep()
      await other.put(
        '/b.html',
        page(`<p itemscope itemtype="${NS}/Schema"><b itemprop="type">https://e.org/T</b></p>`),
      )
      const told = await one.store.foreign?.read()
      await one.site.follow([{ version: 1, paths: ['/c/a.html'], raised: [] }, ...(told?.commits ?? [])])
      expect([isKnown(one, '/c/a.html'), one.site.modelVersion]).to.deep.equal([false, 1])
      answer()
      await moved
      await isTrue(one, ['/b.html', '/c/a.html', '/d/a.html'])
    })

    it('RULE-11 is known to a memory that has counted less than the store, once a commit is refused for it', async () => {
      const [one, other] = await two()
      await one.put('/a.html', rules)
      await other.put('/b.html', rules)
      // What was read of it is lost.
      await one.store.foreign?.read()
      const changes = [{ op: 'delete', path: '/a.html' } as const]
      expect(await one.site.commit({ changes })).to.include({ ok: false, reason: 'counter' })
      expect(await one.site.commit({ changes })).to.include({ ok: true })
      await isTrue(one, ['/a.html', '/b.html'])
    })
  })

  for (const before of ['nothing', 'another document'])
    it(`RULE-12 GRP-4 a schema knows items that another process stores in place of ${before} while it is stored`, async () => {
      const [one, other] = await two()
      if (before !== 'nothing') await other.put('/late.html', page('old'))
      await one.coherence.inStep()
      await one.site.findParsed('/late.html')
      const { store } = one.site
      const { version } = store
      store.version = async () => {
        store.version = version
        await other.put('/late.html', page(instance(OWN_RULE, { actor: '*', resource: '/w/*', action: 'Deny' })))
        return version.call(store)
      }
      await one.put('/schema.html', page(schema(OWN_RULE, { parent: `${NS}/AuthorizationRule` })))
      for (const each of [one, other]) {
        await isTrue(each, ['/late.html', '/schema.html'])
        expect(each.site.rules.document('/late.html')?.rules).to.have.length(1)
      }
    })

  it('HTTP-20 RULE-11 a file that another process has just written declares under its new name what it says', async () => {
    const [one, other] = await two()
    await one.put('/b', rulesPage(['*', 'PUT', 'Allow', '/old/*']))
    await one.site.find('/b')
    const { store } = one.site
    const { find } = store
    store.find = async path => {
      store.find = find
      await other.put('/b', rulesPage(['*', 'PUT', 'Allow', '/new/*']))
      return find.call(store, path)
    }
    await one.move('/b', '/b.html')
    for (const each of [one, other]) {
      await isTrue(each, ['/b.html'])
      expect(JSON.stringify(each.site.rules.document('/b.html')))
        .to.include('/new/')
        .and.not.include('/old/')
    }
  })

  it('random work of two processes at once ends with memory that says what is stored', async () => {
    const [one, other] = await two()
    const paths = ['/a.html', '/b.html', '/c/a.html', '/c/b.html', '/d/a.html', '/d/b.html']
    let state = 20_261_121
    const random = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
      return (state >>> 8) % below
    }
    const pick = () => paths[random(paths.length)] ?? '/a.html'
    async function step(of: Member, i: number): Promise<void> {
      const kind = random(16)
      const text =
        random(2) === 0 ? page(`<ul id="l"><li>${i}</li></ul>`) : rulesPage(['*', 'PUT', 'Allow', `/w${i}/*`])
      const work =
        kind > 9
          ? of.append(pick(), `item ${i}`)
          : kind < 5
            ? of.put(pick(), text)
            : kind < 7
              ? of.remove(pick())
              : kind < 8
                ? of.move('/c/', '/d/')
                : kind < 9
                  ? of.move('/d/', '/c/')
                  : of.remove(random(2) === 0 ? '/c/' : '/d/')
      // What is not there cannot be moved or removed.
      await work.catch(() => undefined)
      if (random(3) === 0) await of.site.find(pick())
      if (random(3) === 0) await of.coherence.inStep()
    }
    for (let round = 0; round < 40; round++) {
      await Promise.all(
        [one, other, one, other].map(async (of, k) => {
          for (let i = 0; i < 5; i++) await step(of, round * 100 + k * 10 + i)
        }),
      )
      for (const each of [one, other]) await isTrue(each, paths)
    }
  })
})

describe('a store that has to ask whether others have committed', () => {
  const coherences: Coherence[] = []
  afterEach(() => Promise.all(coherences.splice(0).map(coherence => coherence.close())))

  function asking(waiting: () => boolean | Promise<boolean>, version = () => 0) {
    const failures: unknown[] = []
    let reads = 0
    const read = async () => ({ version: ++reads, commits: [] })
    const coherence = new Coherence({
      foreign: { waiting, read, version, newest: version },
      failed: error => failures.push(error),
    })
    coherences.push(coherence)
    return { coherence, failures, reads: () => reads }
  }

  it('RULE-11 is asked anew by every request, and read only when somebody has', async () => {
    let news = false
    let asked = 0
    const { coherence, reads } = asking(async () => {
      asked++
      return news
    })
    await coherence.inStep()
    expect([asked, reads()]).to.deep.equal([1, 0])
    news = true
    await Promise.all([coherence.inStep(), coherence.inStep()])
    expect(asked).to.equal(3)
    expect(reads()).to.be.within(1, 2)
  })

  it('HTTP-4 is not asked by whoever knows up to which commit memory has to follow, unless it has not', async () => {
    let asked = 0
    const ask = async () => {
      asked++
      return true
    }
    const { coherence, reads } = asking(ask, () => 7)
    await coherence.inStep(7)
    await coherence.inStep(3)
    expect([asked, reads()]).to.deep.equal([0, 0])
    await coherence.inStep(8)
    expect([asked, reads()]).to.deep.equal([1, 1])
  })

  it('RULE-11 nothing is decided while it gives no answer', async () => {
    const answers = {
      'asked another one': () => Promise.reject(new Error('gone')),
      'could not be read': () => {
        throw new Error('gone')
      },
    }
    for (const [what, waiting] of Object.entries(answers)) {
      const { coherence, failures } = asking(waiting)
      const outcome = await coherence.inStep()?.catch((error: Error) => error.message)
      expect(outcome, what).to.equal('gone')
      expect(failures, what).to.have.length(1)
    }
  })
})
