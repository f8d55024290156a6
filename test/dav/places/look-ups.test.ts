/** What a request of the mount asks the store: a name is used only once, so one question tells which form it has. */

import { expect } from 'chai'
import { startWire, type Wire } from '../wire.ts'

describe('look-ups of the mount', () => {
  let wire: Wire
  /** Paths that the store was asked for. */
  let asked: string[]

  before(async () => {
    wire = await startWire()
    const { store } = wire.server.site
    const { find, findNamed } = store
    const noting = (ask: typeof find) => (path: string) => {
      asked.push(path)
      return ask(path)
    }
    Object.assign(store, { find: noting(find), findNamed: noting(findNamed) })
    asked = []
    await wire.dav('PUT', '/c/kept.txt', {}, 'x')
  })
  after(() => wire.server.stop())

  const names = () => new Set(asked.map(path => path.replace(/(.)\/$/, '$1')))

  /** Paths asked for in both forms. */
  const twice = () => [...names()].filter(name => asked.includes(name) && asked.includes(`${name}/`))

  for (const [title, request, status, most] of [
    ['PUT of a new file', () => wire.dav('PUT', '/c/new.txt', {}, 'x'), 201, 4],
    ['MOVE', () => wire.dav('MOVE', '/c/new.txt', { Destination: '/c/moved.txt' }), 201, 6],
    ['DELETE', () => wire.dav('DELETE', '/c/moved.txt'), 204, 2],
  ] as const)
    it(`${title} asks for a file and a collection of its name at once`, async () => {
      asked = []
      expect((await request()).status).to.equal(status)
      expect(twice()).to.deep.equal([])
      expect(asked.length, asked.join(' ')).to.be.at.most(most)
    })

  it('DAV-52 SEC-12 a draft beside many others looks at itself alone', async () => {
    const save = (name: string | number) => wire.dav('PUT', `/many/${name}.html`, {}, '')
    for (let i = 0; i < 40; i++) await save(i)
    asked = []
    expect((await save('last')).status).to.equal(201)
    expect((await wire.dav('PROPFIND', '/many', { Depth: '0' })).status).to.equal(207)
    expect((await wire.dav('PROPFIND', '/', { Depth: '0' })).status).to.equal(207)
    expect(asked.length, asked.join(' ')).to.be.at.most(20)
  })
})
