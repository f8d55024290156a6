import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { AccessRules } from '../../../pipeline/access/access-rules.ts'
import { Delivery } from '../../../pipeline/events/delivery.ts'
import { SharedFrames } from '../../../pipeline/events/shared-frames.ts'
import { Stream } from '../../../pipeline/events/stream.ts'
import { Waiting } from '../../../pipeline/events/waiting.ts'
import type { RulesAuthority } from '../../../pipeline/site/rules-authority.ts'
import type { StoredEvent } from '../../../pipeline/store/events.ts'
import { access, member, NS, rawGroup, site } from '../access/site.ts'
import { manualClock } from './manual-clock.ts'
import { bodiesOf, Reader, until } from './watching.ts'

const PATH = '/d.html'

/** Rules that admit a group whose type decides by itself who is in it. */
function staffRules(members = 0): AccessRules {
  const group = { ...rawGroup('staff', ...Array.from({ length: members }, String)), subtypes: [`${NS}/Staff`] }
  return site([['staff', 'GET', 'Allow', '/*']], [group])
}

/** A stream of somebody whose membership is only known when it has been asked for. */
function watchedByMember() {
  const questions: ((isMember: boolean) => void)[] = []
  const oracle = {
    overrides: () => true,
    includes: () => new Promise<boolean>(resolve => void questions.push(resolve)),
  }
  const events: StoredEvent[] = []
  let rules = staffRules()
  const accessNow = () => access(rules, { principal: member('ann@a.example'), defaultGet: 'deny', oracle })
  const reader = new Reader()
  const frames = new SharedFrames()
  let isSettled = true
  let meanwhile = () => {}
  const decided = access(rules, { principal: member('ann@a.example'), defaultGet: 'deny' })
  const authority = Object.assign(() => ({ access: decided }) as RulesAuthority, {
    settle: async () => void (isSettled = true),
    isSettled: () => isSettled,
  })
  const stream = new Stream(
    { path: PATH, session: 's', address: '', lastEventId: undefined, authority },
    {
      site: 'a',
      brand: 'platform',
      ns: NS,
      fanOut: {
        begin: () => expect.fail('nothing is written'),
        watch: () => () => undefined,
        resume: async () => ({ after: undefined, gap: false }),
        read: async (_site, _path, after) => {
          meanwhile()
          return events.slice(events.findIndex(({ id }) => id === after) + 1)
        },
        close: async () => undefined,
      },
      clock: manualClock(0),
      retention: 600_000,
      limits: { events: 256, bytes: 1_000_000 },
      setBack: () => Number.NEGATIVE_INFINITY,
      waiting: new Waiting(),
      accessOf: (_subscriber, current) => (current?.rules === rules ? current : accessNow()),
      frames,
      ended: () => undefined,
      failed: error => expect.fail(String(error)),
    },
  )
  stream.start(reader)
  return {
    stream,
    reader,
    questions,
    changeRules: () => {
      rules = staffRules(1)
    },
    /** Something of the site that a group may look at. */
    changeAnything: () => {
      isSettled = false
    },
    whileReading(happens: () => void) {
      meanwhile = happens
    },
    publish(text: string) {
      const event = {
        id: `1-${events.length}`,
        path: PATH,
        version: 1,
        payload: `<div itemprop="body">${text}</div>`,
        facts: '{"tried":[],"keys":[[]]}',
      }
      events.push(event)
      stream.take(new Delivery(event, frames))
    },
  }
}

/** The same, when the group has let the first event pass. */
async function afterOne() {
  const watched = watchedByMember()
  const { reader, questions, publish } = watched
  publish('1')
  await until(() => questions.length === 1)
  questions[0]?.(true)
  await until(() => reader.mutations.length === 1)
  return watched
}

describe('streams of members of groups that decide by themselves', () => {
  it('EVT-65 GRP-5 events wait for the answer, and come in order', async () => {
    const { reader, questions, publish } = watchedByMember()
    publish('1')
    await until(() => questions.length === 1)
    publish('2')
    expect(reader.mutations).to.deep.equal([])
    questions[0]?.(true)
    await until(() => reader.mutations.length === 2)
    publish('3')
    await until(() => reader.mutations.length === 3)
    expect(bodiesOf(reader.mutations)).to.deep.equal(['1', '2', '3'])
    expect(questions, 'an answer holds while the rules do').to.have.length(1)
  })

  it('EVT-65 when rules change the group is asked again, and who is no member any more gets nothing', async () => {
    const { stream, reader, questions, publish, changeRules } = await afterOne()
    changeRules()
    publish('2')
    await until(() => questions.length === 2)
    questions[1]?.(false)
    await until(() => !stream.isOpen)
    expect(bodiesOf(reader.mutations)).to.deep.equal(['1'])
    expect(reader.ending).to.equal('ended')
  })

  it('DEC-7 what a group looks at has changed: it is asked again at the keepalive, and who is no member any more is gone', async () => {
    const { stream, changeAnything } = await afterOne()
    changeAnything()
    stream.tend()
    await until(() => !stream.isOpen)
  })

  it('EVT-65 before an event as well, which who is no member any more does not get', async () => {
    const { stream, reader, publish, changeAnything } = await afterOne()
    changeAnything()
    publish('2')
    await until(() => !stream.isOpen)
    expect(bodiesOf(reader.mutations)).to.deep.equal(['1'])
  })

  it('EVT-65 also where the change comes while events are read', async () => {
    const { stream, reader, questions, publish, changeAnything, whileReading } = watchedByMember()
    whileReading(changeAnything)
    publish('1')
    await until(() => questions.length === 1)
    questions[0]?.(true)
    await until(() => !stream.isOpen)
    expect(reader.mutations).to.deep.equal([])
  })

  it('EVT-65 without events the group is asked at the keepalive, which does not wait for the answer', async () => {
    const { stream, reader, questions, changeRules } = watchedByMember()
    changeRules()
    stream.tend()
    await until(() => questions.length === 1)
    expect(reader.text).to.include(': ping')
    questions[0]?.(false)
    await until(() => !stream.isOpen)
  })
})
