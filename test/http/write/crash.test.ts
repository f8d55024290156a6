import { AssertionError, expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { blobBytes } from '../../../pipeline/store/blobs.ts'
import { openSqliteStore } from '../../../pipeline/store/sqlite/store.ts'
import type { SiteStore } from '../../../pipeline/store/store.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { page, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import type { ServerProcess } from '../../support/process.ts'
import { moving, selecting } from '../write-checks.ts'
import { type Installation, install } from './crash-installation.ts'

const ROUNDS = 3
const WRITERS = 16
const CARDS = 12
/** Larger than what is kept in the database, so that it is a file of its own. */
const BLOB = 300_000

/** What one writer of own files has sent, and what was acknowledged. */
interface Ledger {
  sent: number
  acknowledged: number
}

const documentOf = (writer: number, n: number) => page(`<p id="w${writer}">${`${n} `.repeat(200)}</p>`)
const blobOf = (writer: number, n: number) => Buffer.alloc(BLOB, `${writer}:${n};`)

describe('kill -9 under concurrent writers', () => {
  let installation: Installation
  let server: ServerProcess
  let http: Client
  /** Ids that were appended to the lists: sent, and acknowledged with the id of their event's element. */
  const appended = { sent: new Set<string>(), acknowledged: new Set<string>() }
  const documents: Ledger[] = Array.from({ length: WRITERS }, () => ({ sent: 0, acknowledged: 0 }))
  const blobs: Ledger[] = Array.from({ length: WRITERS }, () => ({ sent: 0, acknowledged: 0 }))
  /** How often each writer's document was moved to and fro. */
  const travels: Ledger[] = Array.from({ length: WRITERS }, () => ({ sent: 0, acknowledged: 0 }))

  before(async function () {
    this.timeout(300_000)
    const cards = Array.from({ length: CARDS }, (_, i) => `<li id="card${i}">${i}</li>`).join('')
    const files: Record<string, string> = {
      '/rules.html': rulesPage(['*', 'PUT|POST|DELETE|MOVE', 'Allow', '/*']),
      '/list0.html': page('<ul id="l"></ul>'),
      '/list1.html': '<title>t</title><ul id=l>\r\n',
      '/board.html': page(`<ul id="b0">${cards}</ul><ul id="b1"></ul><ul id="b2"></ul>`),
    }
    for (let i = 0; i < WRITERS; i++) files[`/travel/${i}-0.html`] = documentOf(i, 0)
    installation = await install(files)
    server = await installation.start()
  })
  after(async () => {
    await server.stop()
    await installation.remove()
  })

  /** One writer: does one thing after another until the server is gone. */
  async function write(writer: number, round: number): Promise<void> {
    try {
      for (let i = 0; ; i++) {
        const kind = (writer + i) % 5
        if (kind === 0) await append(`r${round}-${writer}-${i}`)
        else if (kind === 1)
          await store(documents[writer], n => http('PUT', `/own/${writer}.html`, {}, documentOf(writer, n)))
        else if (kind === 2)
          await http(
            'MOVE',
            '/board.html',
            moving('/board.html', `#card${(writer * 7 + i) % CARDS}`, `#b${i % 3}`, 'append'),
          )
        else if (kind === 3) await store(travels[writer], n => travel(writer, n))
        else if (i % 3 === 0) await store(blobs[writer], n => http('PUT', `/own/${writer}.bin`, {}, blobOf(writer, n)))
        else await append(`r${round}-${writer}-${i}`)
      }
    } catch (error) {
      // The connection broke: whatever was under way is not acknowledged.
      if (error instanceof AssertionError) throw error
    }
  }

  async function append(id: string): Promise<void> {
    appended.sent.add(id)
    const { status } = await http('POST', `/list${id.length % 2}.html`, selecting('#l'), `<li id="${id}">x</li>`)
    expect(status).to.equal(206)
    appended.acknowledged.add(id)
  }

  function travel(writer: number, n: number) {
    const at = (step: number) => `/travel/${writer}-${step % 2}.html`
    return http('MOVE', at(n - 1), { Destination: at(n) })
  }

  async function store(ledger: Ledger | undefined, send: (n: number) => Promise<{ status: number }>): Promise<void> {
    if (!ledger) return
    // What was under way when the server was killed may have been done: it is found out by looking.
    const n = ledger.acknowledged + 1
    ledger.sent = n
    const { status } = await send(n)
    expect(status).to.be.oneOf([200, 201, 204])
    ledger.acknowledged = n
  }

  async function look(): Promise<void> {
    const store = await openSqliteStore({ folder: installation.data })
    try {
      const site = store.site('localhost')
      await lookAtLists(site)
      await lookAtOwn(site)
      await lookAtBoard(site)
    } finally {
      await store.close()
    }
  }

  /** A blob that was on disk when its commit was not is no fault: the file goes, and the store is sound. */
  async function checkStore(): Promise<void> {
    const findings = async (...args: string[]) => {
      const { output } = await installation.run('check', ...args)
      const lines = output
        .trim()
        .split('\n')
        // A check that lasts says how far it is.
        .filter(line => !/^(warning:|checking )/.test(line))
      return lines.filter(line => !/^\d+ checked/.test(line) && !/: No row speaks of the file /.test(line))
    }
    expect(await findings('--repair')).to.deep.equal([])
    const check = await installation.run('check')
    expect(check.output, check.output).to.match(/ 0 problems$/m)
    expect(check.code).to.equal(0)
  }

  async function textIn(site: SiteStore, path: string): Promise<string | undefined> {
    const resource = await site.find(path)
    const body = resource && (await site.body(resource))
    return body && 'bytes' in body ? Buffer.from(body.bytes).toString('utf8') : undefined
  }

  async function lookAtLists(site: SiteStore): Promise<void> {
    const found = new Map<string, number>()
    const told = new Set<string>()
    for (const path of ['/list0.html', '/list1.html']) {
      const text = (await textIn(site, path)) ?? ''
      expect(parseDocument('html', text).root.childNodes).not.to.have.length(0)
      const inText = [...text.matchAll(/id="(r[^"]*)"/g)].map(match => match[1] ?? '')
      for (const id of inText) found.set(id, (found.get(id) ?? 0) + 1)
      const inEvents = (await site.events(path)).flatMap(event => /id="(r[^"]*)"/.exec(event.payload)?.[1] ?? [])
      for (const id of inEvents) told.add(id)
      expect(inEvents, 'events in the order of the list').to.deep.equal(inText)
    }
    for (const id of appended.acknowledged) expect(found.get(id), `acknowledged ${id}`).to.equal(1)
    for (const [id, count] of found) {
      expect(appended.sent.has(id), id).to.equal(true)
      expect(count, id).to.equal(1)
      expect(told.has(id), `event of ${id}`).to.equal(true)
    }
  }

  async function lookAtOwn(site: SiteStore): Promise<void> {
    for (let writer = 0; writer < WRITERS; writer++) {
      const text = await textIn(site, `/own/${writer}.html`)
      settle(documents[writer], text === undefined ? 0 : Number(/>(\d+) /.exec(text)?.[1]))
      const n = documents[writer]?.acknowledged ?? 0
      expect(text, `document ${writer}`).to.equal(n === 0 ? undefined : documentOf(writer, n))
      if (n > 0) {
        const events = await site.events(`/own/${writer}.html`)
        expect(events).to.have.length(n)
        expect(events.at(-1)?.payload).to.include(`>${n} ${n} `)
      }

      const resource = await site.find(`/own/${writer}.bin`)
      const kept = blobs[writer]
      if (resource && kept) {
        const bytes = await bodyOf(site, `/own/${writer}.bin`)
        settle(kept, Number(/^\d+:(\d+);/.exec(bytes.toString('latin1', 0, 20))?.[1]))
        expect(bytes.equals(blobOf(writer, kept.acknowledged)), `blob ${writer}`).to.equal(true)
        expect(await site.events(`/own/${writer}.bin`)).to.have.length(kept.acknowledged)
      } else expect(kept?.acknowledged).to.equal(0)

      const places = await Promise.all([0, 1].map(step => textIn(site, `/travel/${writer}-${step}.html`)))
      const at = places.findIndex(place => place !== undefined)
      expect(
        places.filter(place => place !== undefined),
        `travel ${writer}`,
      ).to.deep.equal([documentOf(writer, 0)])
      const journey = travels[writer]
      if (journey) settle(journey, journey.acknowledged % 2 === at ? journey.acknowledged : journey.sent)
      expect((journey?.acknowledged ?? 0) % 2, `travel ${writer}`).to.equal(at)
    }
  }

  /** What is stored is what was acknowledged, or the one write that was under way. */
  function settle(ledger: Ledger | undefined, stored: number): void {
    if (!ledger) return
    expect(stored).to.be.oneOf([ledger.acknowledged, ledger.sent])
    ledger.acknowledged = stored
  }

  async function bodyOf(site: SiteStore, path: string): Promise<Buffer> {
    const resource = await site.find(path)
    const body = resource && (await site.body(resource))
    if (!body) throw new Error(`${path} has no body`)
    return 'bytes' in body ? Buffer.from(body.bytes) : blobBytes(body.blob)
  }

  async function lookAtBoard(site: SiteStore): Promise<void> {
    const text = (await textIn(site, '/board.html')) ?? ''
    const cards = [...text.matchAll(/<li id="card(\d+)">\1<\/li>/g)].map(match => Number(match[1]))
    expect(cards.sort((a, b) => a - b)).to.deep.equal(Array.from({ length: CARDS }, (_, i) => i))
    expect(text).to.match(/<ul id="b0">.*<\/ul><ul id="b1">.*<\/ul><ul id="b2">.*<\/ul>/)
  }

  for (let round = 1; round <= ROUNDS; round++) {
    it(`round ${round}: what was acknowledged is there with its event, and nothing is half done`, async function () {
      this.timeout(300_000)
      http = client(server.port)
      let writing = true
      const writers = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer, round))).finally(() => {
        writing = false
      })
      // Killed after so many acknowledged appends, in the middle of everything else.
      const enough = appended.acknowledged.size + 40 + round * 13
      while (writing && appended.acknowledged.size < enough) await new Promise(resolve => setTimeout(resolve, 1))
      await server.stop('SIGKILL')
      await writers
      await look()
      await checkStore()
      server = await installation.start()
      const read = await client(server.port)('GET', '/board.html')
      expect(read.status).to.equal(200)
    })
  }

  it('afterwards a write works, the server ends on request, and the store is sound', async function () {
    this.timeout(300_000)
    http = client(server.port)
    expect((await http('POST', '/list0.html', selecting('#l'), '<li id="last">x</li>')).status).to.equal(206)
    expect(server.everything()).not.to.include('unexpected failure')
    expect(await server.stop()).to.equal(0)
    await checkStore()
  })
})
