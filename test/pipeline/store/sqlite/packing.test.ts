/** What the writer is sent of a commit: texts of new documents once, however many of them a commit changes. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Change, NewEvent } from '../../../../pipeline/store/commit.ts'
import { packEvents } from '../../../../pipeline/store/sqlite/writer/packing.ts'

const TEXT = 'body'
const CONTENT = { bytes: Buffer.from(TEXT) }
const document = { op: 'put', kind: 'document', type: 'text/html', content: CONTENT, entries: [] } as const
const put = (path: string, expected: 'absent' | number = 'absent'): Change => ({ ...document, path, expect: expected })
const event = (path: string): NewEvent => ({ path, payload: `<${TEXT}>`, text: { start: 1, length: TEXT.length } })

describe('Events on their way to the writer', () => {
  const whole = { path: '/a.html', payload: '<body>' }
  const parts = { path: '/a.html', payload: '<', tail: '>' }
  const cases: { title: string; changes: Change[]; packed: object }[] = [
    { title: 'without the text of a new document', changes: [put('/a.html')], packed: parts },
    { title: 'without it beside others', changes: [put('/b.html', 3), put('/a.html')], packed: parts },
    { title: 'with the text of one that was there', changes: [put('/a.html', 3)], packed: whole },
    { title: 'with that of one that is put twice', changes: [put('/a.html'), put('/a.html')], packed: whole },
    { title: 'with that of another', changes: [put('/b.html')], packed: whole },
    {
      title: 'with it beside what goes',
      changes: [put('/a.html'), { op: 'delete', path: '/b.html', expect: 3 }],
      packed: whole,
    },
  ]
  for (const { title, changes, packed } of cases)
    it(title, () => expect(packEvents({ changes, events: [event('/a.html')] })).to.deep.equal([packed]))

  it('MOD-56 looks at each change of a commit once, not once for each event', () => {
    const paths = Array.from({ length: 1_000 }, (_, i) => `/${i}.html`)
    let looks = 0
    const changes = paths.map(path => ({
      ...put(path, 3),
      get op() {
        looks++
        return 'put' as const
      },
    })) as Change[]
    packEvents({ changes, events: paths.map(event) })
    expect(looks).to.be.at.most(3 * paths.length)
  })
})
