import { expect } from 'chai'
import type { Value } from '../../../../pipeline/language/values.ts'
import { html, plain, run, variant } from './programs.ts'

const dictionary = (entries: Record<string, Value>) => new Map(Object.entries(entries))

const ctx = dictionary({
  request: dictionary({
    method: 'PUT',
    path: '/a.html',
    query: dictionary({ q: '1' }),
    auth: dictionary({ claims: new Map(), roles: [] }),
  }),
  response: dictionary({ status: 200n, body: 'b' }),
})

describe('language: JavaScript: reactions and failures', () => {
  it('JS-20 the one argument is ctx, `this` is undefined', async () => {
    const source =
      'export default function (c, ...more) { return [typeof this, more.length, c.request.method, c.request.query.q, c.request.auth.roles.length, c.response.status + 1, c.response.body] }'
    const outcome = await run(source, { place: 'property', arguments: [ctx] })
    expect(plain(outcome)).to.deep.equal(['undefined', 0n, 'PUT', '1', 0n, 201n, 'b'])
  })

  it('JS-23 a dynamic property gives its value; null is absent', async () => {
    expect(plain(await run('export default c => c.request.path', { place: 'property', arguments: [ctx] }))).to.equal(
      '/a.html',
    )
    expect(plain(await run('export default () => null', { place: 'property', arguments: [ctx] }))).to.equal(null)
  })

  it('JS-24 the document of a reaction is read-only, and absent where there is none', async () => {
    const source = 'export default () => { try { document.body.remove() } catch (e) { return e.name } }'
    const view = { document: html('<p>') }
    expect(plain(await run(source, { place: 'property', arguments: [ctx], document: view }))).to.equal(
      'NoModificationAllowedError',
    )
    expect(plain(await run('export default () => typeof document', { place: 'property', arguments: [ctx] }))).to.equal(
      'undefined',
    )
  })

  it('JS-39, JS-44 a failure names its variant, and nothing of the server', async () => {
    for (const [source, expected] of [
      ['export default (', 'parse'],
      ['export const a = 1', 'shape'],
      ['export default () => { null.a }', 'threw'],
      ['export default () => Symbol()', 'return-type'],
      ['import "x"', 'import-not-allowed'],
    ] as const) {
      const outcome = await run(source)
      expect(variant(outcome)).to.equal(expected)
      expect(plain(outcome)).not.to.match(/file:|node_modules|\.ts\b| at /)
    }
  })
})
