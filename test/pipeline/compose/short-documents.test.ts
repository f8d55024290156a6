/** A search through many short documents can be left between them, also where all of them are in memory (SEC-12). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { SiteGraph } from '../../../pipeline/compose/graph.ts'
import { Reads } from '../../../pipeline/compose/reads.ts'
import { onDocument } from '../../../pipeline/read/dependencies.ts'
import type { Site } from '../../../pipeline/site/site.ts'
import type { StoredFile } from '../../../pipeline/site/stored-file.ts'
import { selectorFor } from '../../../pipeline/tree/selector/selector.ts'
import { put } from '../../support/content.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { unhurried } from '../../support/unhurried.ts'

const COUNT = 40

describe('searches through short documents', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
    for (let i = 0; i < COUNT; i++) await put(server, `/many/${i}.html`, `<p class=x>${i}</p>`)
  })
  after(() => server.close())

  it('SEC-12 COMP-25 can be left at each of them', async () => {
    const { site } = server
    for (let i = 0; i < COUNT; i++) {
      const file = await site.find(`/many/${i}.html`)
      if (file) await site.parsed(file)
    }
    const graph = new SiteGraph(site, new Reads(site), () => {
      throw new Error('no request')
    })
    const work = graph.select(selectorFor('.x'), unhurried(), ['/many/*'])
    let [places, waits] = [0, 0]
    let step = work.next()
    for (; !step.done; step = work.next()) {
      if (step.value === undefined) places++
      else {
        waits++
        await step.value
      }
    }
    graph.release()
    expect(step.value).to.have.length(COUNT)
    expect(places).to.be.at.least(COUNT)
    expect(waits).to.be.below(COUNT)
  })

  it('SEC-12 COMP-25 can be left while their paths are held against a pattern of many alternatives, which are paid for', () => {
    const { site } = server
    const allowance = unhurried()
    const graph = new SiteGraph(site, new Reads(site), () => {
      throw new Error('no request')
    })
    const glob = `/many/*{${Array.from({ length: 200 }, (_, i) => `z${i}[ab]`).join(',')},7.}*`
    const work = graph.matching([glob], [[]], allowance)
    let places = 0
    let step = work.next()
    for (; !step.done; step = work.next()) places++
    graph.release()
    expect(step.value).to.deep.equal(['/many/17.html', '/many/27.html', '/many/37.html', '/many/7.html'])
    expect(places).to.be.at.least(3)
    expect(allowance.stepsTaken).to.be.at.least((COUNT * 200) / 4)
  })

  it('SEC-12 COMP-4 none of them is looked up again as long as nothing on the site has changed', () => {
    const state = { version: 1, digest: 'a' }
    let lookedUp = 0
    const site = {
      changes: 1,
      watch: () => undefined,
      inMemory: (path: string) => {
        lookedUp++
        return { resource: { path, ...state } }
      },
    }
    const reads = new Reads(site as unknown as Site)
    for (let i = 0; i < COUNT; i++) reads.document(`/many/${i}.html`, state)
    expect(reads.hold(site as unknown as Site)).to.equal(true)
    expect(lookedUp).to.equal(0)
    site.changes++
    expect(reads.hold(site as unknown as Site)).to.equal(true)
    expect(lookedUp).to.equal(COUNT)
  })

  it('RULE-11 COMP-4 another commit of the same number, as a database that was set back has it, is another version', () => {
    const state = { version: 1, digest: 'a' }
    const site = { changes: 1, watch: () => undefined, inMemory: (path: string) => ({ resource: { path, ...state } }) }
    const asSite = site as unknown as Site
    const reads = new Reads(asSite)
    reads.document('/a.html', { ...state })
    const dependencies = onDocument({ resource: { path: '/a.html', ...state } } as unknown as StoredFile)
    site.changes++
    expect([reads.hold(asSite), dependencies.hold(asSite)]).to.deep.equal([true, true])
    site.changes++
    state.digest = 'b'
    expect([reads.hold(asSite), dependencies.hold(asSite)]).to.deep.equal([false, false])
  })
})
