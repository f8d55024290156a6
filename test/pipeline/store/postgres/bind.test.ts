import { expect } from 'chai'
import fc from 'fast-check'
import { after, before, describe, it } from 'mocha'
import { BindMessage } from '../../../../pipeline/store/postgres/commit/bind.ts'
import { connect } from '../../../../pipeline/store/postgres/connection.ts'
import { pipelineOn, type WriterSession } from '../../../../pipeline/store/postgres/session.ts'
import { sharedCluster } from '../../../support/postgres.ts'

describe('parameters in binary', () => {
  let session: WriterSession
  let end: () => Promise<void>
  before(async () => {
    const client = await connect({ url: (await sharedCluster()).url }, 'bind')
    session = pipelineOn(client)
    end = () => client.end()
  })
  after(() => end())

  const rows = fc.array(
    fc.record({
      whole: fc.option(fc.maxSafeInteger()),
      small: fc.integer({ min: -32_768, max: 32_767 }),
      text: fc.option(fc.string({ unit: 'binary' }).map(text => text.replaceAll('\0', ''))),
      bytes: fc.uint8Array(),
    }),
  )

  it('come to the database as they are, with NULL and without rows', () =>
    fc.assert(
      fc.asyncProperty(rows, async given => {
        const said = await session.call(
          `SELECT json_agg(json_build_array(w::text, s, t, encode(b, 'hex')))::text
           FROM unnest($1::bigint[], $2::smallint[], $3::text[], $4::bytea[]) AS k (w, s, t, b)`,
          statement => {
            const message = new BindMessage(statement, 4)
            message.columns(given, [
              ['int8', ({ whole }) => whole],
              ['int2', ({ small }) => small],
              ['text', ({ text }) => text],
              ['bytea', ({ bytes }) => bytes],
            ])
            return message.finish()
          },
        )
        const expected = given.map(({ whole, small, text, bytes }) => [
          whole === null ? null : String(whole),
          small,
          text,
          Buffer.from(bytes).toString('hex'),
        ])
        expect(JSON.parse(said ?? '[]')).to.deep.equal(expected)
      }),
      { numRuns: 50 },
    ))

  it('may be longer than what is kept for the next message', async () => {
    const long = 'ä'.repeat(700_000)
    const length = (text: string) =>
      session.call('SELECT length($1::text)::text', statement => {
        const message = new BindMessage(statement, 1)
        message.value('text', text)
        return message.finish()
      })
    expect(await Promise.all([length(long), length('short'), length(long)])).to.deep.equal(['700000', '5', '700000'])
  })

  it('an error of the statement is told, and the next goes on', async () => {
    const divide = (by: number) =>
      session.call('SELECT (1 / $1::int8)::text', statement => {
        const message = new BindMessage(statement, 1)
        message.value('int8', by)
        return message.finish()
      })
    const [failed, done] = await Promise.allSettled([divide(0), divide(1)])
    expect(failed).to.have.nested.property('reason.code', '22012')
    expect(done).to.have.property('value', '1')
  })
})
