/** Exclusive locks asked for at the same moment, over HTTP, on connections of their own. */

import { expect } from 'chai'
import { type Connection, connect, type Received, requestBytes } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { lockinfo } from './replays/requests.ts'

const ROUNDS = Number(process.env.FUZZ ?? 100)
const CLIENTS = 8

const credentials = Array.from({ length: CLIENTS }, (_, i) => ({
  user: `author${i}`,
  password: `p${i}`,
  scope: ['/*'],
  write: true,
}))

describe('Lock races', function () {
  this.timeout(300_000)
  let server: TestServer
  let connections: Connection[]
  before(async () => {
    server = await startServer({ site: { credentials } })
    connections = await Promise.all(credentials.map(() => connect(Number(new URL(server.mountUrl).port))))
  })
  after(async () => {
    for (const connection of connections) connection.close()
    await server.close()
  })

  async function ask(client: number, method: string, path: string, fields: Record<string, string>, body?: string) {
    const connection = connections[client]
    const { user, password } = credentials[client] ?? { user: '', password: '' }
    const Authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
    connection?.send(requestBytes(method, path, { Authorization, ...fields }, body))
    const received = await connection?.receive({ head: method === 'HEAD' })
    if (!received) throw new Error(`there is no client ${client}`)
    return received
  }

  const lock = (client: number, path: string, scope = 'exclusive') =>
    ask(client, 'LOCK', path, { Depth: '0' }, lockinfo(`author ${client}`).replace('exclusive', scope))

  /** @returns which client won */
  function winnerOf(all: readonly Received[], status: number): number {
    expect(all.map(each => each.status).sort()).to.deep.equal([status, ...Array(CLIENTS - 1).fill(423)].sort())
    return all.findIndex(each => each.status === status)
  }

  it(`DAV-82 of ${CLIENTS} simultaneous requests exactly one wins, in ${ROUNDS} rounds`, async () => {
    await ask(0, 'PUT', '/race.txt', {}, 'start')
    const winners = new Set<number>()
    for (let round = 0; round < ROUNDS; round++) {
      const all = await Promise.all(connections.map((_, client) => lock(client, '/race.txt')))
      const winner = winnerOf(all, 200)
      winners.add(winner)
      const token = all[winner]?.headers['lock-token'] ?? ''
      // Only the winner's token is in effect: a write of any other is refused.
      const writes = await Promise.all(
        connections.map((_, client) => ask(client, 'PUT', '/race.txt', { If: `(${token})` }, `client ${client}`)),
      )
      for (const [client, { status }] of writes.entries()) expect(status).to.equal(client === winner ? 204 : 423)
      expect((await ask(winner, 'GET', '/race.txt', {})).text).to.equal(`client ${winner}`)
      expect((await ask(winner, 'UNLOCK', '/race.txt', { 'Lock-Token': token })).status).to.equal(204)
    }
    expect(winners.size).to.be.greaterThan(0)
  })

  it('DAV-81 of simultaneous requests for a free name exactly one makes the file', async () => {
    for (let round = 0; round < ROUNDS / 4; round++) {
      const path = `/free-${round}.${round % 2 ? 'html' : 'txt'}`
      winnerOf(await Promise.all(connections.map((_, client) => lock(client, path))), 201)
    }
  })

  it('DAV-82 shared locks are had together, and an exclusive one never beside them', async () => {
    for (let round = 0; round < ROUNDS / 4; round++) {
      await ask(0, 'PUT', `/shared-${round}.txt`, {}, 'start')
      const all = await Promise.all(
        connections.map((_, client) => lock(client, `/shared-${round}.txt`, client % 2 ? 'shared' : 'exclusive')),
      )
      const exclusive = all.filter(({ status }, client) => client % 2 === 0 && status === 200).length
      const shared = all.filter(({ status }, client) => client % 2 === 1 && status === 200).length
      expect([exclusive, shared]).to.deep.be.oneOf([
        [1, 0],
        [0, CLIENTS / 2],
      ])
    }
  })

  it('DAV-42 of simultaneous saves with the same tag exactly one wins', async () => {
    for (const name of ['save.txt', 'save.html']) {
      await ask(0, 'PUT', `/${name}`, {}, '<!doctype html>\n<title>0</title>\n')
      for (let round = 0; round < ROUNDS / 4; round++) {
        const { etag = '' } = (await ask(0, 'HEAD', `/${name}`, {})).headers
        const all = await Promise.all(
          connections.map((_, client) =>
            ask(
              client,
              'PUT',
              `/${name}`,
              { 'If-Match': etag },
              `<!doctype html>\n<title>${round} ${client}</title>\n`,
            ),
          ),
        )
        const winners = all.flatMap(({ status }, client) => (status === 204 ? [client] : []))
        expect(winners, all.map(each => each.status).join(' ')).to.have.length(1)
        for (const { status } of all) expect(status).to.be.oneOf([204, 409, 412])
        expect((await ask(0, 'GET', `/${name}`, {})).text).to.contain(`<title>${round} ${winners[0]}</title>`)
      }
    }
  })

  it('DAV-42 of simultaneous creations with If-None-Match: * exactly one wins', async () => {
    for (let round = 0; round < ROUNDS / 4; round++) {
      const path = `/create-${round}.txt`
      const all = await Promise.all(
        connections.map((_, client) => ask(client, 'PUT', path, { 'If-None-Match': '*' }, `client ${client}`)),
      )
      const winners = all.flatMap(({ status }, client) => (status === 201 ? [client] : []))
      expect(winners, all.map(each => each.status).join(' ')).to.have.length(1)
      expect((await ask(0, 'GET', path, {})).text).to.equal(`client ${winners[0]}`)
    }
  })

  it('DAV-48 of simultaneous moves of one file exactly one wins', async () => {
    for (let round = 0; round < ROUNDS / 4; round++) {
      await ask(0, 'PUT', `/from-${round}.txt`, {}, 'x')
      const all = await Promise.all(
        connections.map((_, client) =>
          ask(client, 'MOVE', `/from-${round}.txt`, { Destination: `/to-${round}-${client}.txt` }),
        ),
      )
      expect(all.filter(({ status }) => status === 201)).to.have.length(1)
      for (const { status } of all) expect(status).to.be.oneOf([201, 404, 409])
    }
  })
})
