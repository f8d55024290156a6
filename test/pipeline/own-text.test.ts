import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createLoginThrottles } from '../../dav/access/login-throttle.ts'
import { compiled } from '../../pipeline/compiled.ts'
import { localRateLimits } from '../../pipeline/coordination/local/rate-limits.ts'
import { parseForStorage, slipsIn } from '../../pipeline/declarations/derive.ts'
import { decodeTarget } from '../../pipeline/http/path.ts'
import { compileTemplate } from '../../pipeline/language/liquid/liquid.ts'
import { compile, evaluate } from '../../pipeline/language/sessel/sessel.ts'
import { ownText } from '../../pipeline/own-text.ts'
import { selectorFor } from '../../pipeline/tree/selector/selector.ts'
import { cookieValues } from '../../server/sessions/steps.ts'
import { collect } from '../support/collect.ts'
import { unhurried } from '../support/unhurried.ts'
import { hostFor } from './language/sessel/site.ts'

/** Characters that are cut from in all. */
const ALL = 10 * 1024 * 1024
const LONG = 256 * 1024
const HTML = { kind: 'html', foreign: false, element: 'p' } as const

/** What is made of a word that was cut from a request or a document. */
const KEPT: [what: string, size: number, make: (filler: string, i: number) => unknown][] = [
  ['a selector', LONG, (filler, i) => selectorFor(cut(`#of-some-length-${i}`, filler))],
  ['a selector of other letters', LONG, (filler, i) => selectorFor(cut(`#of-süme-längth-ж${i}`, filler))],
  ['an expression', LONG, (filler, i) => compile(cut(`"of some length ${i}"`, filler))],
  ['a template', LONG, (filler, i) => compileTemplate(cut(`of some length {{ a }} ${i}`, filler), HTML)],
  ['a cookie', LONG, (filler, i) => cookieValues(`a_session=of-some-length-${i}; other=${filler}`, 'a_session')],
  ['one of several cookies', LONG, (filler, i) => cookieValues(`a=1; a=of-some-length-${i}; b=${filler}`, 'a')],
  ['the name of a failed attempt to sign in', 8000, (filler, i) => attempt(`user-of-some-length-${i}${filler}`)],
  ['what is known of a document', LONG, declaring],
  ['a path', 8000, (filler, i) => decodeTarget(`/of-some-length-${i}?${filler}`, 'public', false).path],
]

const NS = 'https://platform.example/ns'

/** A rule, and a field that is nearly one of its own. */
async function declaring(filler: string, i: number): Promise<unknown> {
  const fields = Object.entries({
    agent: '*',
    method: 'GET',
    mode: 'Allow',
    resource: `/some-long-path-${i}/*`,
    methods: 'x',
  })
  const markup = fields.map(([name, value]) => `<b itemprop="${name}">${value}</b>`).join('')
  const rule = `<r itemscope="" itemtype="${NS}/AuthorizationRule https://example.org/some-type-${i}">${markup}</r>`
  const bytes = Buffer.from(`<a xmlns:x="https://example.org/of-some-length-${i}">${rule}${filler}</a>`)
  const { derived } = await parseForStorage(bytes, 'xml', { ns: NS, schemaHost: 'https://schema.org' })
  return [derived.declares, derived.profile, slipsIn(derived.profile)]
}

const throttle = createLoginThrottles({ rateLimits: localRateLimits() }).of('site')

/** Each from another address: of one, few are tried at once. */
function attempt(user: string): unknown {
  return throttle.attempt(`address of ${user.slice(0, 40)}`, Buffer.from(user).toString(), async () => undefined)
}

function cut(word: string, filler: string): string {
  const whole = Buffer.from(`${word}${filler}`).toString()
  return whole.slice(0, word.length)
}

describe('texts on their own', () => {
  for (const [what, size, make] of KEPT)
    it(`SEC-12 ${what} does not keep in memory what it was cut from`, async () => {
      const times = Math.ceil(ALL / size)
      const filler = ' '.repeat(size)
      const kept: unknown[] = []
      await make(filler, times)
      collect()
      const before = process.memoryUsage().heapUsed
      for (let i = 0; i < times; i++) kept.push(await make(Buffer.from(filler).toString(), i))
      collect()
      expect(process.memoryUsage().heapUsed - before).to.be.below(ALL / 4)
      expect(kept).to.have.length(times)
    })

  for (const [what, source] of [
    ['filters', `{{ x${'|a'.repeat(2_000)} }}`],
    ['values of a tag', `{% case x %}{% when 1${',1'.repeat(2_000)} %}{% endcase %}`],
    ['a cycle', `{% cycle 1${',1'.repeat(2_000)} %}`],
    ['a list of tags', `{% liquid${'\necho a'.repeat(1_000)}\n%}`],
    ['operators', `{% if a${' and a'.repeat(490)} %}{% endif %}`],
    ['pieces of text', 'a{%#a%}'.repeat(1_000)],
    ['outputs', 'a{{a}}'.repeat(500)],
  ] as const)
    it(`SEC-12 a template counts as what it takes in memory: ${what}`, () => {
      compileTemplate(source, HTML)
      compiled.shrink(0)
      compiled.limit(Number.POSITIVE_INFINITY)
      collect()
      const [before, counted] = [process.memoryUsage().heapUsed, compiled.bytes]
      for (let i = 0; i < 4; i++) compileTemplate(source + i, HTML)
      collect()
      expect((process.memoryUsage().heapUsed - before) / (compiled.bytes - counted)).to.be.below(1.5)
      compiled.limit(8 * 1024 * 1024)
    })

  it('SEC-12 SES-128 selectors below an element count with what else was compiled, and go with it', async () => {
    const program = (i: number) => `[].\${ a${'.a'.repeat(1_900)}.b${i} }`
    const kept = async (from: number, to: number) => {
      for (let i = from; i < to; i++) await evaluate(compile(program(i)), hostFor('/shop.html'), unhurried())
      compiled.shrink(0)
      collect()
      return process.memoryUsage().heapUsed
    }
    const before = await kept(0, 2)
    expect((await kept(2, 32)) - before).to.be.below(1024 * 1024)
  })

  it('are the same texts', () => {
    for (const text of ['', 'a', ' a ', 'é', '日本', '😀', '\ud800', '\udc00x', 'x'.repeat(100)])
      expect(ownText(text)).to.equal(text)
  })
})
