import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Answer } from '../../pipeline/answer.ts'
import { memoryBody } from '../../pipeline/body.ts'
import { Fault } from '../../pipeline/fault.ts'
import {
  type Gate,
  type GateName,
  type Operation,
  passGates,
  perform,
  type Reactions,
} from '../../pipeline/operation.ts'

/** What happened, in order. */
type Journal = string[]

const refusal = new Fault(403, 'Forbidden', 'No.', { refused: { resource: '/x', method: 'PUT' } })
const absence = new Fault(404, 'NotFound', 'Nothing.')
const answer = (status: number): Answer => ({ status, headers: {} })
const textOf = async (body: { bytes(cap: number): Promise<Uint8Array> }) => Buffer.from(await body.bytes(99)).toString()

interface Plan {
  admit?: unknown
  core?: unknown
  stream?: true
  triggers?: { answer: Answer } | { body: string } | Fault
}

/** Runs an operation and reactions that do as a plan says and write down when. */
async function run({ admit, core, stream, triggers }: Plan): Promise<{ journal: Journal; status: number | string }> {
  const journal: Journal = []
  const operation: Operation = {
    async admit() {
      journal.push('admit')
      if (admit) throw admit
      return {}
    },
    async carryOut(body) {
      journal.push(`core ${await textOf(body)}`)
      if (core) throw core
      return stream ? { ...answer(200), stream: () => undefined } : answer(200)
    },
  }
  const reactions: Reactions = {
    actsBefore: true,
    async before(_admitted, body) {
      journal.push('triggers')
      if (triggers instanceof Fault) throw triggers
      if (!triggers) return { body }
      return 'answer' in triggers ? triggers : { body: memoryBody(Buffer.from(triggers.body)) }
    },
    async after(given) {
      journal.push(`processors ${given.status}`)
      return answer(given.status + 1)
    },
    toAnswer: failure => answer(failure instanceof Fault ? failure.status : 500),
  }
  const status = await perform(operation, memoryBody(Buffer.from('sent')), reactions).then(
    given => given.status,
    (error: unknown) => (error instanceof Fault ? `thrown ${error.status}` : 'thrown'),
  )
  return { journal, status }
}

const CASES: [title: string, plan: Plan, journal: Journal, status: number | string][] = [
  ['authorization, triggers, core, processors', {}, ['admit', 'triggers', 'core sent', 'processors 200'], 201],
  ['a refused request runs nothing else', { admit: refusal }, ['admit'], 'thrown 403'],
  ['a search that fails skips triggers and core', { admit: absence }, ['admit', 'processors 404'], 405],
  ['triggers may answer', { triggers: { answer: answer(418) } }, ['admit', 'triggers'], 418],
  ['triggers may end the request with a failure', { triggers: absence }, ['admit', 'triggers'], 'thrown 404'],
  [
    'triggers may put another body in place of the one that was sent',
    { triggers: { body: 'other' } },
    ['admit', 'triggers', 'core other', 'processors 200'],
    201,
  ],
  [
    'processors see what core processing fails with',
    { core: absence },
    ['admit', 'triggers', 'core sent', 'processors 404'],
    405,
  ],
  ['a second look that refuses runs no processor', { core: refusal }, ['admit', 'triggers', 'core sent'], 'thrown 403'],
  ['streams run no processor', { stream: true }, ['admit', 'triggers', 'core sent'], 200],
]

describe('HTTP-1 REA-10 operations', () => {
  for (const [title, plan, journal, status] of CASES)
    it(`REA-10 ${title}`, async () => {
      expect(await run(plan)).to.deep.equal({ journal, status })
    })

  it('REA-23 a document that changes with every look ends in a 503', async () => {
    let looks = 0
    const operation: Operation = {
      admit: async () => {
        if (++looks > 1_000) throw new Error('it is looked at without end')
        return {}
      },
      carryOut: () => Promise.reject(new Error('nothing was found')),
    }
    const reactions: Reactions = {
      actsBefore: true,
      before: async () => undefined,
      after: async given => given,
      toAnswer: () => answer(500),
    }
    const failure = await perform(operation, memoryBody(Buffer.alloc(0)), reactions).catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(Fault).with.property('status', 503)
    expect(looks).to.be.within(2, 100)
  })

  it('REA-70 without reactions core processing is all there is', async () => {
    const operation: Operation = {
      admit: () => Promise.reject(new Error('asked twice')),
      carryOut: async body => ({ ...answer(200), body: await textOf(body) }),
    }
    expect((await perform(operation, memoryBody(Buffer.from('sent')))).body).to.equal('sent')
  })

  it('HTTP-1 gates are passed in their order, each when the one before it has let the request through', async () => {
    const passed: string[] = []
    const gate = (name: GateName, wait: boolean, fails = false): Gate<string> => ({
      name,
      pass(found) {
        passed.push(`${name} ${found}`)
        if (fails) throw absence
        return wait ? new Promise(resolve => setImmediate(resolve)) : undefined
      },
    })
    const gates = [
      gate('authorization', false),
      gate('existence', true),
      gate('target', true, true),
      gate('locks', false),
    ]
    const failed = await passGates(gates, 'x').catch((error: unknown) => error)
    expect(failed).to.equal(absence)
    expect(passed).to.deep.equal(['authorization x', 'existence x', 'target x'])
  })
})
