/** Which addresses may be called, and that the connection goes to one that was checked (REA-87). */

import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { isLocalName } from '../../../pipeline/http/network.ts'
import { reachOf } from '../../../pipeline/react/outbound/addresses.ts'
import { attempt } from '../../../pipeline/react/outbound/attempt.ts'
import { type Addresses, askingOnce, type Resolve } from '../../../pipeline/react/outbound/names.ts'
import { type Receiver, receiver } from './receiver.ts'

describe('Addresses', () => {
  const cases: [reach: string, addresses: string[]][] = [
    ['public', ['1.1.1.1', '8.8.8.8', '172.15.0.1', '172.32.0.1', '192.167.1.1', '100.63.0.1', '100.128.0.1']],
    ['public', ['2606:4700:4700::1111', '2a00:1450:4001::1', '::ffff:8.8.8.8', '64:ff9b::808:808', '2002:808:808::1']],
    ['local', ['127.0.0.1', '127.255.255.254', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '::1']],
    [
      'local',
      ['fc00::1', 'fdff::1', '::ffff:10.0.0.1', '::ffff:7f00:1', '64:ff9b::7f00:1', '2002:7f00:1::', '::10.0.0.1'],
    ],
    [
      'never',
      ['0.0.0.0', '0.1.2.3', '100.64.0.1', '169.254.169.254', '192.0.0.1', '192.0.2.1', '198.18.0.1', '198.19.1.1'],
    ],
    ['never', ['198.51.100.1', '203.0.113.1', '224.0.0.1', '239.1.1.1', '240.0.0.1', '255.255.255.255']],
    ['never', ['::', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1', '2001:db8::1', '100::1', '3fff::1', '4000::1']],
    [
      'never',
      ['::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::', '64:ff9b:1::1', '::ffff:0:0', '1::1'],
    ],
    ['public', ['2606:4700::5efe:8.8.8.8']],
    ['local', ['fd00::5efe:8.8.8.8', '2606:4700::5efe:10.0.0.1', '2606:4700::200:5efe:10.0.0.1']],
    ['never', ['fe80::5efe:8.8.8.8', 'fe80::200:5efe:8.8.8.8', '2606:4700::5efe:169.254.0.1']],
    ['never', ['168.63.129.16', '::ffff:168.63.129.16', '64:ff9b::a83f:8110', '2002:a83f:8110::1']],
    ['public', ['168.63.129.15', '168.63.129.17']],
    ['never', ['no address', '', '1.2.3', '[::1]']],
  ]
  for (const [reach, addresses] of cases)
    for (const address of addresses)
      it(`REA-87 ${JSON.stringify(address)} is ${reach}`, () => expect(reachOf(address)).to.equal(reach))

  it('REA-87 names of this machine', () => {
    for (const name of ['localhost', 'LOCALHOST', 'localhost.', 'a.localhost']) expect(isLocalName(name)).to.equal(true)
    expect(isLocalName('localhost.example')).to.equal(false)
  })
})

/** A DNS server whose answers for every name change from question to question. */
async function nameServer(answers: readonly string[][]): Promise<{ resolve: Resolve; asked(): number; close(): void }> {
  let asked = 0
  const socket = createSocket('udp4')
  socket.on('message', (question, peer) => {
    const addresses = answers[Math.min(asked++, answers.length - 1)] ?? []
    const end = question.indexOf(0, 12) + 5
    const head = Buffer.from(question.subarray(0, 12))
    head.writeUInt16BE(0x8180, 2)
    head.writeUInt16BE(addresses.length, 6)
    head.writeUInt16BE(0, 10)
    const records = addresses.map(address =>
      Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
    )
    socket.send(Buffer.concat([head, question.subarray(12, end), ...records]), peer.port, peer.address)
  })
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))
  const resolver = new Resolver()
  resolver.setServers([`127.0.0.1:${socket.address().port}`])
  return {
    resolve: async host => (await resolver.resolve4(host)).map(address => ({ address, family: 4 })),
    asked: () => asked,
    close: () => socket.close(),
  }
}

describe('One attempt', () => {
  let to: Receiver | undefined
  let names: Awaited<ReturnType<typeof nameServer>> | undefined
  afterEach(async () => {
    await to?.close()
    names?.close()
    to = names = undefined
  })
  const sending = (url: string, allowLocal: boolean) => ({ url, method: 'POST', fields: [], body: 'x', allowLocal })

  it('REA-87 a name that resolves to a private address is refused for good', async () => {
    to = await receiver()
    names = await nameServer([['127.0.0.1']])
    const outcome = await attempt(sending(`http://hooks.example:${to.port}/`, false), names.resolve)
    expect(outcome).to.include({ ok: false, final: true })
    expect(to.got).to.deep.equal([])
  })

  it('REA-87 every address is checked, not the first alone', async () => {
    names = await nameServer([['1.1.1.1', '10.0.0.1']])
    expect(await attempt(sending('http://hooks.example/', false), names.resolve)).to.include({ final: true })
  })

  it('REA-87 an answer that changes changes nothing: the name is resolved once, and that address connected to', async () => {
    to = await receiver()
    names = await nameServer([['127.0.0.1'], ['203.0.113.1'], ['203.0.113.1']])
    const outcome = await attempt(sending(`http://hooks.example:${to.port}/a?b=1`, true), names.resolve)
    expect(outcome).to.deep.equal({ ok: true, status: 204 })
    expect(names.asked()).to.equal(1)
    expect(to.got[0]?.headers.host).to.equal(`hooks.example:${to.port}`)
    expect(to.got[0]?.url).to.equal('/a?b=1')
  })

  it('REA-95 a name is asked for once at a time, and anew when that was answered', async () => {
    const waiting: PromiseWithResolvers<{ address: string; family: number }[]>[] = []
    const resolve = askingOnce(() => {
      const asked = Promise.withResolvers<{ address: string; family: number }[]>()
      waiting.push(asked)
      return asked.promise
    })
    const [first, again, other] = [resolve('a.example'), resolve('a.example'), resolve('b.example')]
    expect(waiting).to.have.length(2)
    waiting[0]?.resolve([{ address: '1.1.1.1', family: 4 }])
    waiting[1]?.reject(new Error('none'))
    expect(await again).to.equal(await first)
    expect(await other.catch(({ message }) => message)).to.equal('none')
    void resolve('a.example')
    void resolve('b.example')
    expect(waiting).to.have.length(4)
  })

  it('REA-95 so many names are asked for at a time, in their order; one for which nobody waits any more is left out', async () => {
    const asked: string[] = []
    const answers = new Map<string, PromiseWithResolvers<Addresses>>()
    const resolve = askingOnce(host => {
      const answer = Promise.withResolvers<Addresses>()
      asked.push(host)
      answers.set(host, answer)
      return answer.promise
    }, 1)
    const [now, over] = [new AbortController(), new AbortController()]
    const hung = resolve('hangs.example', over.signal).catch(({ message }) => message)
    void resolve('a.example', over.signal)
    const b = resolve('b.example', over.signal)
    const again = resolve('b.example', now.signal)
    const c = resolve('c.example')
    over.abort()
    expect(asked).to.deep.equal(['hangs.example'])
    answers.get('hangs.example')?.reject(new Error('none'))
    expect(await hung).to.equal('none')
    while (!answers.has('b.example')) await new Promise(setImmediate)
    answers.get('b.example')?.resolve([])
    expect(await b).to.equal(await again)
    while (!answers.has('c.example')) await new Promise(setImmediate)
    answers.get('c.example')?.resolve([])
    expect(await c).to.deep.equal([])
    expect(asked).to.deep.equal(['hangs.example', 'b.example', 'c.example'])
  })

  it('REA-95 names of one site that nobody answers for keep those of other sites waiting for nothing', async () => {
    const asked: string[] = []
    const answers = new Map<string, PromiseWithResolvers<Addresses>>()
    const resolve = askingOnce(
      host => {
        const answer = Promise.withResolvers<Addresses>()
        asked.push(host)
        answers.set(host, answer)
        return answer.promise
      },
      3,
      2,
    )
    const answer = async (host: string) => {
      while (!answers.has(host)) await new Promise(setImmediate)
      answers.get(host)?.resolve([])
    }
    const dead = ['1', '2', '3', 'b2'].map(name => resolve(`${name}.example`, undefined, 'one'))
    expect(asked).to.deep.equal(['1.example', '2.example'])
    // Also one that waits behind such names for another site.
    const names = ['b1', 'b2', '1', 'b3'].map(name => resolve(`${name}.example`, undefined, 'other'))
    const third = resolve('c.example', undefined, 'third')
    expect(asked).to.deep.equal(['1.example', '2.example', 'b1.example'])
    // In turns.
    for (const host of ['b1.example', 'b2.example', 'c.example', 'b3.example']) await answer(host)
    expect(await Promise.all([names[0], names[1], names[3], third, dead[3]])).to.deep.equal([[], [], [], [], []])
    expect(asked).to.deep.equal(['1.example', '2.example', 'b1.example', 'b2.example', 'c.example', 'b3.example'])
    await answer('1.example')
    expect(await names[2]).to.equal(await dead[0])
    await answer('3.example')
    expect(await dead[2]).to.deep.equal([])
    expect(asked).to.have.length(7)
  })

  const literals = [
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    'localhost',
    '0.0.0.0',
    '[::]',
  ]
  for (const host of literals)
    it(`REA-87 ${host} is refused, however it is written`, async () => {
      expect(await attempt(sending(`http://${host}:9/`, false))).to.include({ ok: false, final: true })
    })

  it('REA-87 what is never called is not called with allowOutbound either', async () => {
    for (const host of ['169.254.169.254', '0.0.0.0', '[fe80::1]', '100.64.0.1'])
      expect(await attempt(sending(`http://${host}/`, true)), host).to.include({ final: true })
  })

  it('REA-85 redirects are failures, and not followed', async () => {
    to = await receiver((_, response) => response.writeHead(302, { Location: '/else' }).end())
    expect(await attempt(sending(`${to.url}/`, true))).to.deep.equal({ ok: false, status: 302 })
    expect(to.got).to.have.length(1)
  })

  it('REA-85 answers that are no HTTP, refused connections, servers that close or say nothing', async () => {
    const { createServer } = await import('node:net')
    const garbage = createServer(socket => void socket.resume().end('what?\r\n\r\n'))
    await new Promise<void>(resolve => garbage.listen(0, '127.0.0.1', resolve))
    const { port } = garbage.address() as { port: number }
    expect(await attempt(sending(`http://127.0.0.1:${port}/`, true))).to.include({ ok: false })
    await new Promise(resolve => garbage.close(resolve))
    expect(await attempt(sending(`http://127.0.0.1:${port}/`, true))).to.include({ ok: false, error: 'ECONNREFUSED' })
    to = await receiver(request => request.socket.destroy())
    expect(await attempt(sending(`${to.url}/`, true))).to.include({ ok: false })
    await to.close()
    to = await receiver(() => undefined)
    const limits = { connect: 200, total: 300 }
    expect(await attempt(sending(`${to.url}/`, true), undefined, limits)).to.include({ error: 'no answer in time' })
  })

  it('REA-85 nor is the head of an answer, or what comes before it, read without end', async () => {
    const { createServer } = await import('node:net')
    for (const [head, piece] of [
      ['HTTP/1.1 200 ', 'x'.repeat(1_000)],
      ['', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(100)],
      ['', '\r\n'.repeat(1_000)],
    ] as const) {
      const flood = createServer(socket => {
        const write = () => {
          while (!socket.destroyed && socket.write(piece));
        }
        socket.on('error', () => undefined).on('drain', write)
        socket.write(head)
        write()
      })
      await new Promise<void>(resolve => flood.listen(0, '127.0.0.1', resolve))
      const { port } = flood.address() as { port: number }
      const limits = { connect: 10_000, total: 10_000 }
      const failed = await attempt(sending(`http://127.0.0.1:${port}/`, true), undefined, limits)
      expect(failed).to.deep.equal({ ok: false, error: 'UND_ERR_SOCKET' })
      flood.close()
    }
  })

  it('REA-85 of an answer without end no more than 64 KiB are read', async () => {
    let sent = 0
    to = await receiver((_, response) => {
      response.writeHead(200)
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384))) sent += 16_384
      }
      response.on('drain', more)
      more()
    })
    expect(await attempt(sending(`${to.url}/`, true))).to.deep.equal({ ok: true, status: 200 })
    expect(sent).to.be.below(64 * 1024 * 1024)
  })
})
