/** Random operations of two authors who lock what they like, judged by an oracle (DAV-82 to DAV-88). */

import { expect } from 'chai'
import fc from 'fast-check'
import { after, before, describe, it } from 'mocha'
import type { Client, Fields } from '../../support/http.ts'
import type { Operation } from '../methods/shelf-oracle.ts'
import { everything, outcomeOf, property, propertyUpdate, to } from '../wire.ts'
import { LockOracle } from './lock-oracle.ts'
import { type Authors, lockInfo, startMount, tokenOf } from './locking.ts'

const names = fc.constantFrom('a', 'b')
const paths = fc.array(names, { minLength: 1, maxLength: 3 }).map(segments => `/${segments.join('/')}`)

type Step =
  | Operation
  | { op: 'lock'; path: string; deep: boolean }
  /** Of the locks that there are, by number. */
  | { op: 'unlock'; which: number }
interface Turn {
  author: 'ann' | 'bob'
  /** All tokens that the author has are submitted. */
  submits: boolean
  step: Step
}

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ op: fc.constant('lock' as const), path: paths, deep: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('unlock' as const), which: fc.nat(9) }) },
  { weight: 4, arbitrary: fc.record({ op: fc.constant('put' as const), path: paths, content: fc.constant('x') }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('delete' as const), path: paths }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('mkcol' as const), path: paths }) },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant('describe' as const), path: paths, value: fc.constant('calm') }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constantFrom('copy' as const, 'move' as const),
      from: paths,
      to: paths,
      overwrite: fc.boolean(),
      deep: fc.boolean(),
    }),
  },
)
const turns: fc.Arbitrary<Turn> = fc.record({
  author: fc.constantFrom('ann' as const, 'bob' as const),
  submits: fc.boolean(),
  step: steps,
})

describe('random locks', () => {
  let authors: Authors
  let runs = 0
  before(async () => {
    authors = await startMount()
  })
  after(() => authors.server.close())

  async function send(author: Client, root: string, operation: Operation, fields: Fields): Promise<string> {
    const at = (path: string) => root + path
    if (operation.op === 'put') return outcomeOf(await author('PUT', at(operation.path), fields, operation.content))
    if (operation.op === 'delete') return outcomeOf(await author('DELETE', at(operation.path), fields))
    if (operation.op === 'mkcol') return outcomeOf(await author('MKCOL', at(operation.path), fields))
    if (operation.op === 'describe') {
      const update = propertyUpdate(['{urn:x}mood', operation.value])
      return outcomeOf(await author('PROPPATCH', at(operation.path), fields, update))
    }
    const { op, from, overwrite, deep } = operation
    const depth = op === 'move' || deep ? 'infinity' : '0'
    const more = to(at(operation.to), { Overwrite: overwrite ? 'T' : 'F', Depth: depth })
    return outcomeOf(await author(op.toUpperCase(), at(from), { ...fields, ...more }))
  }

  async function play(root: string, oracle: LockOracle, { author: name, submits, step }: Turn): Promise<void> {
    const author = authors[name]
    const tokens = new Set(submits ? oracle.locks.flatMap(({ user, token }) => (user === name ? [token] : [])) : [])
    // The last list holds always, so that the tokens count and nothing else.
    const fields =
      tokens.size > 0 ? { If: `${[...tokens].map(token => `(<${token}>)`).join(' ')} (Not <DAV:no-lock>)` } : {}
    if (step.op === 'unlock') {
      const lock = oracle.locks[step.which]
      if (!lock) return
      const answer = await author('UNLOCK', root + lock.path, { 'Lock-Token': `<${lock.token}>` })
      expect(answer.status, 'both have the whole site').to.equal(204)
      oracle.locks.splice(step.which, 1)
      return
    }
    const before = await everything(authors.server)
    if (step.op === 'lock') {
      const { path, deep } = step
      const wanted = oracle.lock(path, deep, name, tokens)
      const answer = await author('LOCK', root + path, { ...fields, Depth: deep ? 'infinity' : '0' }, lockInfo())
      expect(answer.status, answer.text).to.equal(wanted)
      if (wanted < 207) oracle.locks.push({ path, deep, user: name, token: tokenOf(answer) })
      else expect(await everything(authors.server), 'a refusal').to.deep.equal(before)
      return
    }
    const wanted = oracle.run(step, name, tokens)
    const outcome = await send(author, root, step, fields)
    expect(outcome.slice(0, 3)).to.equal(String(wanted))
    if (wanted >= 400) expect(await everything(authors.server), 'a refusal').to.deep.equal(before)
  }

  it('let through who has the tokens, and nobody else', async function () {
    this.timeout(300_000)
    await fc.assert(
      fc.asyncProperty(fc.array(turns, { minLength: 5, maxLength: 30 }), async sequence => {
        const root = `/run-${runs++}`
        expect((await authors.ann('MKCOL', root)).status).to.equal(201)
        const oracle = new LockOracle()
        for (const [i, turn] of sequence.entries()) {
          await play(root, oracle, turn).catch((cause: unknown) => {
            throw new Error(`turn ${i} ${JSON.stringify(turn)}: ${cause}`, { cause })
          })
        }
        for (const path of [...oracle.shelf.files.keys(), ...oracle.shelf.collections]) {
          const shown = await authors.bob('PROPFIND', root + path, { Depth: '0' })
          const tokens = Array.from(shown.text.matchAll(/opaquelocktoken:[0-9a-f-]{36}/g), ([token]) => token)
          expect(tokens.sort(), `DAV-88 ${path}`).to.deep.equal(
            oracle
              .on(path)
              .map(({ token }) => token)
              .sort(),
          )
        }
        for (const { path, token } of oracle.locks)
          await authors.ann('UNLOCK', root + path, { 'Lock-Token': `<${token}>` })
        expect(await property(authors.ann, `${root}/`, 'lockdiscovery')).to.equal('')
        expect((await authors.ann('DELETE', root)).status).to.equal(204)
      }),
      { numRuns: Number(process.env.FUZZ ?? 25), seed: Number(process.env.SEED ?? 20311104) },
    )
  })
})
