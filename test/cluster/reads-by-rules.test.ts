/** Reads on one process while another shuts readers out and then writes what they may not see (RULE-11). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { memoryBody } from '../../pipeline/body.ts'
import { Fault } from '../../pipeline/fault.ts'
import { perform } from '../../pipeline/operation.ts'
import { queryDocument } from '../../pipeline/read/query.ts'
import { type Read, readResource } from '../../pipeline/read/read.ts'
import { rulesAuthority } from '../../pipeline/site/rules-authority.ts'
import { page, rulesPage } from '../support/content.ts'
import { type Member, members } from './members.ts'

const PATH = '/diary.html'
const READ: Read = {
  path: PATH,
  requested: PATH,
  head: false,
  range: undefined,
  accept: undefined,
  acceptEncoding: undefined,
  conditions: undefined,
  ifRange: undefined,
  setsCookie: false,
  cors: false,
}
const OPEN = rulesPage(['*', 'GET', 'Allow', PATH])
const SHUT = rulesPage(['*', 'GET', 'Deny', PATH])

/** What a stranger is told, or the status of the refusal. */
async function told({ site }: Member, form: 'whole' | 'element' | 'query'): Promise<string | number> {
  const authority = rulesAuthority(site, {
    facts: { method: 'GET', path: PATH, headers: () => undefined, queryString: '' },
  })
  const range = { unit: 'selector', selector: 'p', wire: 'p' } as const
  const operation =
    form === 'query'
      ? queryDocument(site, READ, authority)
      : readResource(site, form === 'whole' ? READ : { ...READ, range }, authority)
  try {
    const { body } = await perform(operation, memoryBody(Buffer.from('p')))
    const pieces = typeof body === 'object' && 'pieces' in body ? body.pieces : [body]
    return pieces.map(piece => (piece instanceof Uint8Array ? Buffer.from(piece).toString() : String(piece))).join('')
  } catch (error) {
    if (error instanceof Fault) return error.status
    throw error
  }
}

describe('rules that change elsewhere while something is read', () => {
  const { two } = members()

  for (const form of ['whole', 'element', 'query'] as const)
    for (const writer of ['another process', 'the same process'] as const)
      it(`RULE-11 what was written behind them is not shown: ${form}, by ${writer}`, async () => {
        const [reader, other] = await two()
        const author = writer === 'another process' ? other : reader
        await other.put('/rules.html', OPEN)
        await other.put(PATH, page('<p>for all</p>'))
        await reader.coherence.inStep()
        expect(await told(reader, form)).to.include('for all')
        // Nothing of it is in memory any more, as when other files have taken its place.
        await other.put(PATH, page('<p>for all again</p>'))
        await reader.coherence.inStep()
        const { store } = reader.site
        const { find } = store
        store.find = async path => {
          store.find = find
          await author.put('/rules.html', SHUT)
          await author.put(PATH, page('<p>secret</p>'))
          return find.call(store, path)
        }
        expect(await told(reader, form)).to.equal(401)
      })
})
