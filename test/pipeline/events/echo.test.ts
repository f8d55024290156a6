import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { Cause } from '../../../pipeline/events/mutation.ts'
import { page } from '../../support/content.ts'
import { bodiesOf, settled, type WatchedSite, type Watching, watchedSite } from './watching.ts'

const PATH = '/d.html'

describe('echo suppression', () => {
  let site: WatchedSite
  let streams: Record<'ann 1' | 'ann 2' | 'bob', Watching>

  beforeEach(async () => {
    site = await watchedSite()
    await site.rules(['*', 'GET', 'Allow', '/*'])
    await site.put(PATH, page('<ul id="l"></ul>'))
    streams = {
      'ann 1': await site.watch(PATH, { session: 'ann' }),
      'ann 2': await site.watch(PATH, { session: 'ann' }),
      bob: await site.watch(PATH, { session: 'bob' }),
    }
  })
  afterEach(() => site.close())

  const append = (cause: Cause, text = 'x') => site.write(PATH, ['POST', '#l', `<li>${text}</li>`], cause)
  const told = () =>
    Object.entries(streams)
      .filter(([, { reader }]) => reader.mutations.length > 0)
      .map(([name]) => name)

  const cases: [title: string, cause: (token: (name: keyof typeof streams) => string) => Cause, told: string[]][] = [
    ['EVT-55 a write without token skips every stream of its session', () => ({ session: 'ann' }), ['bob']],
    [
      'EVT-55 a write with a token skips the stream that has it, and no other of the session',
      token => ({ session: 'ann', token: token('ann 1') }),
      ['ann 2', 'bob'],
    ],
    [
      'EVT-56 the token alone decides, whatever session sends it',
      token => ({ session: 'bob', token: token('ann 2') }),
      ['ann 1', 'bob'],
    ],
    [
      'EVT-56 a token that no open stream has suppresses nothing, not even in its own session',
      () => ({ session: 'ann', token: 'unknown' }),
      ['ann 1', 'ann 2', 'bob'],
    ],
    [
      'EVT-57 a writer with a fresh session is suppressed for nobody',
      () => ({ session: 'new' }),
      ['ann 1', 'ann 2', 'bob'],
    ],
    ['EVT-57 a write without visitor is suppressed for nobody', () => ({}), ['ann 1', 'ann 2', 'bob']],
  ]
  for (const [title, cause, expected] of cases)
    it(title, async () => {
      await append(cause(name => streams[name].stream.token))
      expect(told()).to.deep.equal(expected)
    })

  it('EVT-56 the token of a stream that has ended suppresses nothing', async () => {
    const { token } = streams['ann 1'].stream
    streams['ann 1'].stream.end('at once')
    await append({ session: 'ann', token })
    expect(told()).to.deep.equal(['ann 2', 'bob'])
  })

  it('EVT-58 replays leave out what the session wrote without a token, and keep everything else in order', async () => {
    const from = (await site.store.site('a.example').events(PATH)).at(-1)?.id ?? ''
    await append({ session: 'ann' }, '1')
    await append({ session: 'bob' }, '2')
    await append({ session: 'ann', token: streams['ann 1'].stream.token }, '3')
    await append({}, '4')
    const replay = async (session: string, count: number) => {
      const { reader } = await site.watch(PATH, { session, lastEventId: from })
      await settled(reader, count + 1)
      return bodiesOf(reader.mutations)
    }
    // A returning stream has another token, so that of its past suppresses nothing.
    expect(await replay('ann', 3)).to.deep.equal(['<li>2</li>', '<li>3</li>', '<li>4</li>'])
    expect(await replay('bob', 3)).to.deep.equal(['<li>1</li>', '<li>3</li>', '<li>4</li>'])
    expect(await replay('new', 4)).to.have.length(4)
  })

  it('EVT-58 a suppressed event is not replayed for another reason: the place goes on behind it', async () => {
    const { reader } = streams['ann 1']
    await append({ session: 'ann' }, 'mine')
    await append({ session: 'bob' }, 'theirs')
    expect(bodiesOf(reader.mutations)).to.deep.equal(['<li>theirs</li>'])
    const again = await site.watch(PATH, { session: 'ann', lastEventId: reader.mutations[0]?.id ?? '' })
    await append({ session: 'bob' }, 'later')
    await settled(again.reader, 2)
    expect(bodiesOf(again.reader.mutations)).to.deep.equal(['<li>later</li>'])
  })
})
