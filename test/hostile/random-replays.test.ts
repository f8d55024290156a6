/**
 * Streams of several people over documents that many write to while rules change, opened with ids that were seen, made up or
 * taken from another path. A model that knows the rules says who gets which event (EVT-35, EVT-47, EVT-55, EVT-66).
 */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type OpenStream, openStream } from '../pipeline/events/stream-client.ts'
import { page, put, type RuleLine, rulesPage } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { openSession } from '../support/visitors.ts'
import { Drawing } from './drawing.ts'

/** Phases, each with rules of its own; `FUZZ=<number>` goes on longer, from `SEED=<number>`. */
const PHASES = Number(process.env.FUZZ ?? 8)
const SEED = Number(process.env.SEED ?? 1)

const PATHS = ['/d0.html', '/d1.html'] as const
const CLASSES = ['pub', 'mid', 'priv'] as const
type Class = (typeof CLASSES)[number]
const PEOPLE = ['guest', 'other', 'ann', 'root'] as const
type Person = (typeof PEOPLE)[number]

/** Rules, and what they let somebody read: which elements, or nothing at all. */
interface Ruling {
  lines: readonly RuleLine[]
  reads(person: Person, path: string, of: Class, hide: string): boolean
  admits(person: Person, path: string): boolean
}

const isGuest = (person: Person) => person === 'guest' || person === 'other'
const ALL: RuleLine = ['*', 'GET', 'Allow', '/d*']
const RULINGS: readonly Ruling[] = [
  { lines: [ALL], reads: () => true, admits: () => true },
  {
    lines: [ALL, ['*', 'GET', 'Deny', '/d*', '.priv'], ['ann', 'GET', 'Allow', '/d*', '.priv']],
    reads: (person, _, of) => of !== 'priv' || !isGuest(person),
    admits: () => true,
  },
  {
    lines: [ALL, ['*', 'GET', 'Deny', '/d*', '.priv, .mid']],
    reads: (person, _, of) => of === 'pub' || person === 'root',
    admits: () => true,
  },
  {
    lines: [ALL, ['users', 'GET', 'Deny', '/d0.html', '.mid'], ['*', 'GET', 'Deny', '/d1.html']],
    reads: (person, path, of) => person === 'root' || (path === '/d0.html' && (isGuest(person) || of !== 'mid')),
    admits: (person, path) => person === 'root' || path === '/d0.html',
  },
  {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: rules look things up this way
    lines: [ALL, ['*', 'GET', 'Deny', '/d*', '.${request.query.hide}']],
    reads: (person, _, of, hide) => person === 'root' || of !== hide,
    admits: () => true,
  },
]

/** What is known of one write that was acknowledged. */
interface Written {
  word: string
  classes: readonly Class[]
  whole: boolean
  by: Person | 'writer' | 'author'
  token: string | undefined
}

interface Watching {
  person: Person
  path: string
  hide: string
  stream: OpenStream
  /** Id after which it was opened, as far as that is one of its path. */
  after: string | undefined
  /** Mutations that came in earlier phases. */
  judged: number
  /** Position in the log at which it was opened without an id. */
  from: number
}

describe('streams at random', function () {
  this.timeout(3_600_000)
  let server: TestServer
  let http: Client
  let mount: Client
  const cookies = new Map<string, string>()

  before(async () => {
    server = await startServer({ site: { events: { streamsPerAddress: 5_000, streamsPerSession: 5_000 } } })
    http = client(server.port)
    const basic = Buffer.from(`${server.user}:${server.password}`).toString('base64')
    mount = client(Number(new URL(server.mountUrl).port), { Authorization: `Basic ${basic}` })
    for (const person of [...PEOPLE, 'writer'] as const) {
      const isVisitor = person === 'guest' || person === 'other'
      cookies.set(person, await openSession(server, isVisitor ? undefined : { sub: person }))
    }
  })
  after(() => server.close())

  it('EVT-47 EVT-66 everybody gets what they may have, once and in order, and nothing else', async () => {
    const made = new Drawing(SEED)
    const written = new Map<string, Written>()
    const logs = new Map<string, OpenStream>()
    const watching: Watching[] = []
    let told = 0
    let words = 0

    const rule = (ruling: Ruling) =>
      put(
        server,
        '/rules.html',
        rulesPage(
          ...ruling.lines,
          ['*', 'POST|PUT|DELETE|MOVE', 'Allow', '/d*'],
          ['root', 'GET', 'Allow', '/d*'],
          ['root', 'GET', 'Allow', '/d*', '.pub, .mid, .priv'],
          ['writer', '*', 'Allow', '/d*'],
        ),
      )
    const item = (word: string, of: Class) => `<li class="${of}" id="${word}">${word}</li>`
    const fresh = () => `w${++words}w`

    /** One write by somebody; noted when it is acknowledged. */
    async function write(path: string, ids: string[]): Promise<void> {
      const by = made.one(['writer', 'writer', 'guest', 'ann', 'author'] as const)
      const word = fresh()
      const of = made.one(CLASSES)
      const token = made.is(0.15) ? made.one(watching)?.stream.token : undefined
      const fields = {
        Cookie: cookies.get(by) ?? '',
        ...(token !== undefined && by !== 'author' && { 'Platform-Connection': token }),
      }
      const note = (classes: readonly Class[], whole = false) =>
        written.set(word, { word, classes, whole, by, token: by === 'author' ? undefined : token })
      const target = made.one(ids)
      if (by === 'author' || made.is(0.05)) {
        const text = page(`<ul id="l" class="pub">${item(word, of)}</ul>`)
        const answer = by === 'author' ? await mount('PUT', path, {}, text) : await http('PUT', path, fields, text)
        if (answer.status < 300) note(CLASSES, true)
        ids.splice(0, ids.length, word)
      } else if (made.is(0.6) || target === undefined) {
        const placement = made.one(['append', 'prepend'])
        const range = { Range: `selector=#l; placement=${placement}` }
        const two = made.is(0.2) ? made.one(CLASSES) : undefined
        const text = item(word, of) + (two ? item(`${word}x`, two) : '')
        if ((await http('POST', path, { ...fields, ...range }, text)).status === 206) {
          note(two ? [of, two] : [of])
          ids.push(word)
        }
      } else if (made.is(0.5)) {
        const range = { Range: `selector=#${target}` }
        if ((await http('PUT', path, { ...fields, ...range }, item(word, of))).status === 206) {
          note([of])
          ids.splice(ids.indexOf(target), 1, word)
        }
      } else {
        const to = { Destination: path, 'Destination-Range': 'selector=#l; placement=append' }
        const method = made.one(['DELETE', 'MOVE'])
        await http(method, path, { ...fields, Range: `selector=#${target}`, ...(method === 'MOVE' && to) })
      }
    }

    function idsOf(path: string): string[] {
      return (logs.get(path)?.mutations ?? []).map(({ id }) => id ?? '')
    }

    async function watch(): Promise<void> {
      const path = made.one(PATHS)
      const person = made.one(PEOPLE)
      const hide = made.one(CLASSES)
      const kind = made.below(8)
      const own = idsOf(path)
      const last =
        kind < 4
          ? made.one(own)
          : kind === 4
            ? made.one(idsOf(made.one(PATHS)))
            : kind === 5
              ? made.one(['', '0-0', '9999999999999-0', 'x', '1-1', '-1-0', `${Date.now()}-0`, '1e3-0', '٣-0'])
              : undefined
      const headers = {
        Cookie: cookies.get(person) ?? '',
        ...(last !== undefined && { 'Last-Event-ID': Buffer.from(last).toString('latin1') }),
      }
      const from = own.length
      const stream = await openStream({ port: server.port }, `${path}?hide=${hide}`, headers)
      if (stream.status !== 200) {
        stream.close()
        expect(rulings.admits(person, path), `${person} on ${path}`).to.equal(false)
        return
      }
      expect(rulings.admits(person, path), `${person} on ${path}`).to.equal(true)
      await stream.until(() => stream.events.length > 0)
      const after = kind < 4 ? last : undefined
      watching.push({ person, path, hide, stream, after, judged: 0, from: last === undefined ? from : -1 })
    }

    function judge(each: Watching, marker: string): void {
      const { person, path, stream } = each
      const { mutations, events } = stream
      const log = logs.get(path)?.mutations ?? []
      const places = mutations.map(({ id }) => log.findIndex(known => known.id === id))
      expect(places, 'in order, each once').to.deep.equal([...new Set(places)].sort((a, b) => a - b))
      for (const [i, { data }] of mutations.entries()) {
        if (i < each.judged) continue
        told++
        const known = log[places[i] ?? -1]
        const word = />(w\d+w)</.exec(known?.data ?? '')?.[1]
        const about = written.get(word ?? '')
        if (data !== known?.data) expect(data, 'only bodies are left out').not.to.match(/w\d+w</)
        const shown = [...data.matchAll(/class="(pub|mid|priv)" id="(w\d+wx?)"/g)]
        for (const [, of = '', id] of shown)
          expect(
            rulings.reads(person, path, of as Class, each.hide),
            `${person} reads ${id} of ${of} at ${path}`,
          ).to.equal(true)
        // Whoever has moved it need not be whoever wrote it.
        if (/>MOVE</.test(data)) continue
        const isOwn = about && about.token === undefined && about.by === person
        expect(isOwn, `${person} hears of their own ${word}`).not.to.equal(true)
        const isOther = about?.token !== undefined && about.token === stream.token
        expect(isOther, `the stream that sent ${word} hears of it`).not.to.equal(true)
      }
      const isReset = events.some(({ event }) => event === 'reset')
      if (!isReset && each.after !== undefined) {
        const start = log.findIndex(({ id }) => id === each.after) + 1
        if (start > 0) complete(each, log.slice(start), marker)
      } else if (!isReset && each.from >= 0) complete(each, log.slice(each.from), marker, true)
      each.judged = mutations.length
    }

    /** Nothing is missing of what may be read by the rules of this phase, of words that were written in it. */
    function complete(
      { person, path, hide, stream, judged }: Watching,
      log: OpenStream['mutations'],
      marker: string,
      loose = false,
    ): void {
      const got = new Set(stream.mutations.map(({ id }) => id))
      for (const { id, data } of log) {
        const word = />(w\d+w)</.exec(data)?.[1]
        const about = written.get(word ?? '')
        if (!about || />MOVE</.test(data) || about.whole || judged > 0 || loose) continue
        if (about.by === person && about.token === undefined) continue
        if (about.token === stream.token) continue
        if (!about.classes.every(of => rulings.reads(person, path, of, hide))) continue
        expect(got.has(id), `${person} on ${path} misses ${word} before ${marker}`).to.equal(true)
      }
    }

    let rulings = RULINGS[0] as Ruling
    await rule(rulings)
    for (const path of PATHS) {
      await put(server, path, page('<ul id="l" class="pub"></ul>'))
      logs.set(path, await openStream({ port: server.port }, path, { Cookie: cookies.get('root') ?? '' }))
    }
    for (const log of logs.values()) await log.until(() => log.events.length > 0)
    const ids = new Map<string, string[]>(PATHS.map(path => [path, []]))

    for (let phase = 0; phase < PHASES; phase++) {
      rulings = made.one(RULINGS)
      await rule(rulings)
      for (let burst = 0; burst < 3; burst++) {
        const jobs: Promise<void>[] = []
        for (let i = 0; i < 6; i++) {
          const path = made.one(PATHS)
          jobs.push(made.is(0.7) ? write(path, ids.get(path) ?? []) : watch())
        }
        await Promise.all(jobs)
      }
      const markers = new Map<string, string>()
      for (const path of PATHS) {
        // Everybody may read it: when it has come, so has all before it.
        const word = fresh()
        markers.set(path, word)
        // An empty list, so that the mark can be made whatever was stored.
        await mount('PUT', path, {}, page(`<ul id="l" class="pub">${item(fresh(), 'pub')}</ul>`))
        ids.set(path, [])
        const fields = { Cookie: cookies.get('writer') ?? '', Range: 'selector=#l' }
        const answer = await http('POST', path, fields, `<li>${word}</li>`)
        expect(answer.status).to.equal(206)
        written.set(word, { word, classes: [], whole: false, by: 'writer', token: undefined })
        const log = logs.get(path)
        await log?.until(() => log.text.includes(`>${word}<`))
      }
      for (const each of [...watching]) {
        const { person, path, stream } = each
        const marker = markers.get(path) ?? ''
        if (!rulings.admits(person, path)) {
          await stream.ended
          judge(each, marker)
          watching.splice(watching.indexOf(each), 1)
          continue
        }
        await stream.until(() => stream.text.includes(`>${marker}<`))
        judge(each, marker)
        if (made.is(0.5)) {
          stream.close()
          watching.splice(watching.indexOf(each), 1)
        }
      }
      for (const { word, whole } of written.values()) {
        const times = [...logs.values()].reduce((sum, { text }) => sum + text.split(`>${word}<`).length - 1, 0)
        if (!whole) expect(times, `${word} is told once`).to.be.within(1, 99)
      }
    }
    for (const { stream } of watching) stream.close()
    for (const log of logs.values()) log.close()
    expect(told, 'events that were judged').to.be.above(10 * PHASES)
  })
})
