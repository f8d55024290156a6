import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, rulesPage } from '../../support/content.ts'
import { type Client, client, connect, type Received, requestBytes, tagOf } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { failureOf, moving, selecting, textOf } from '../write-checks.ts'

/** So many clients at once. */
const CLIENTS = 32

function times<T>(count: number, make: (i: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, i) => make(i)))
}

describe('concurrent writes', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/rules.html', rulesPage(['*', 'PUT|POST|DELETE|MOVE', 'Allow', '/*']))
  })
  after(() => server.close())

  const ids = (text: string) => [...text.matchAll(/id="n(\d+)"/g)].map(found => Number(found[1]))

  it('HTTP-96 32 appends to one element all land, each once, in the order of their events', async () => {
    await put(server, '/list.html', page('<ul id="l"></ul>'))
    const answers = await times(CLIENTS, i => http('POST', '/list.html', selecting('#l'), `<li id="n${i}">${i}</li>`))
    expect(answers.map(answer => answer.status)).to.deep.equal(Array(CLIENTS).fill(206))
    const landed = ids(await textOf(server, '/list.html'))
    expect([...landed].sort((a, b) => a - b)).to.deep.equal(Array.from({ length: CLIENTS }, (_, i) => i))
    const events = await server.site.store.events('/list.html')
    const told = events.flatMap(event => (event.payload.includes('>POST<') ? ids(event.payload) : []))
    expect(told).to.deep.equal(landed)
    for (const [i, answer] of answers.entries()) expect(answer.text).to.equal(`<li id="n${i}">${i}</li>`)
  })

  it('HTTP-96 each event and each answer carries the tag of its own version', async () => {
    await put(server, '/tags.html', page('<ul id="l"></ul>'))
    const answers = await times(16, i => http('POST', '/tags.html', selecting('#l'), `<li id="n${i}">${i}</li>`))
    expect(new Set(answers.map(tagOf)).size).to.equal(16)
    const events = await server.site.store.events('/tags.html')
    const told = new Set(events.map(event => /itemprop="etag">([^<]*)</.exec(event.payload)?.[1]))
    for (const answer of answers) expect(told.has(tagOf(answer))).to.equal(true)
  })

  it('HTTP-96 appends, prepends and insertions beside mix; nothing is lost', async () => {
    await put(server, '/mix.html', page('<ul id="l"><li id="anchor">x</li></ul>'))
    const places = [['#l'], ['#l', 'prepend'], ['#anchor', 'before'], ['#anchor', 'after']] as const
    await times(CLIENTS, i => {
      const [selector, placement] = places[i % 4] ?? ['#l']
      return http('POST', '/mix.html', selecting(selector, placement), `<li id="n${i}">${i}</li>`)
    })
    const text = await textOf(server, '/mix.html')
    expect(ids(text)).to.have.length(CLIENTS)
    const anchor = text.indexOf('anchor')
    for (const i of [1, 2]) expect(text.indexOf(`id="n${i}"`), String(i)).to.be.below(anchor)
    for (const i of [0, 3]) expect(text.indexOf(`id="n${i}"`), String(i)).to.be.above(anchor)
  })

  it('HTTP-96 documents of soup, where splices are not proved locally, lose nothing either', async () => {
    await put(server, '/soup.html', '<p>a<b>b<div id=l>x<i>y</b>z</div><table><td>q')
    const answers = await times(16, i => http('POST', '/soup.html', selecting('#l'), `<u id="n${i}">${i}</u>`))
    expect(answers.every(answer => answer.status === 206)).to.equal(true)
    const matches = await http('GET', '/soup.html', { ...selecting('#l > u[id]'), Accept: 'multipart/mixed' })
    expect(new Set(ids(matches.text)).size).to.equal(16)
  })

  it('HTTP-37 PUT with If-Match: exactly one of 16 wins, the others are told the tag of the winner', async () => {
    for (const [path, fields] of [
      ['/race.html', {}],
      ['/race.bin', {}],
      ['/race.html', selecting('p')],
    ] as const) {
      await put(server, path, page('<p>start</p>'))
      const tag = tagOf(await http('GET', path, fields))
      const answers = await times(16, i =>
        http(
          'PUT',
          path,
          { ...fields, 'If-Match': tag },
          Object.keys(fields).length ? `<p>${i}</p>` : page(`<p>${i}</p>`),
        ),
      )
      const winners = answers.filter(answer => answer.status < 300)
      const losers = answers.filter(answer => answer.status === 412)
      expect(winners).to.have.length(1)
      expect(losers).to.have.length(15)
      const [winner] = winners
      const now = tagOf(await http('GET', path, fields))
      expect(winner && tagOf(winner)).to.equal(now)
      for (const loser of losers) expect(tagOf(loser)).to.equal(now)
      expect(await textOf(server, path)).to.include(`<p>${winner && answers.indexOf(winner)}</p>`)
    }
  })

  it('HTTP-37 If-None-Match: * creates once, whoever of 16 comes first', async () => {
    const answers = await times(16, i => http('PUT', '/once.html', { 'If-None-Match': '*' }, page(String(i))))
    expect(answers.filter(answer => answer.status === 201)).to.have.length(1)
    expect(answers.filter(answer => answer.status === 412)).to.have.length(15)
    expect(await textOf(server, '/once.html')).to.equal(page(String(answers.findIndex(a => a.status === 201))))
  })

  it('HTTP-109 concurrent moves in one document all take effect, each against the newest version', async () => {
    const cards = Array.from({ length: 24 }, (_, i) => `<li id="n${i}">${i}</li>`)
    await put(server, '/board.html', page(`<ul id="a">${cards.join('')}</ul><ul id="b"></ul>`))
    const answers = await times(24, i => http('MOVE', '/board.html', moving('/board.html', `#n${i}`, '#b', 'append')))
    expect(answers.every(answer => answer.status === 204)).to.equal(true)
    const text = await textOf(server, '/board.html')
    expect(text).to.include('<ul id="a"></ul><ul id="b">')
    expect(ids(text).sort((a, b) => a - b)).to.deep.equal(Array.from({ length: 24 }, (_, i) => i))
  })

  it('HTTP-109 two moves of one element: both pass, and it is there once', async () => {
    await put(server, '/two.html', page('<ul id="a"><li id="x">x</li></ul><ul id="b"></ul><ul id="c"></ul>'))
    const answers = await times(8, i =>
      http('MOVE', '/two.html', moving('/two.html', '#x', i % 2 ? '#b' : '#c', 'append')),
    )
    expect(answers.every(answer => answer.status === 204)).to.equal(true)
    expect((await textOf(server, '/two.html')).split('id="x"')).to.have.length(2)
  })

  it('HTTP-109 a source that one of several deletes is moved or gone, never both', async () => {
    for (let round = 0; round < 10; round++) {
      await put(server, '/gone.html', page('<ul id="a"><li id="x">x</li></ul><ul id="b"></ul>'))
      const [moved, removed] = await Promise.all([
        http('MOVE', '/gone.html', moving('/gone.html', '#x', '#b', 'append')),
        http('DELETE', '/gone.html', selecting('#x')),
      ])
      expect(removed.status).to.equal(204)
      expect(moved.status).to.be.oneOf([204, 416])
      expect(await textOf(server, '/gone.html')).not.to.include('id="x"')
    }
  })

  it('HTTP-109 elements that swap places end as some order of the moves says', async () => {
    for (let round = 0; round < 10; round++) {
      await put(server, '/swap.html', page('<div id="l"><p id="a">a</p><p id="b">b</p></div>'))
      await Promise.all([
        http('MOVE', '/swap.html', moving('/swap.html', '#a', '#b', 'append')),
        http('MOVE', '/swap.html', moving('/swap.html', '#b', '#a', 'append')),
      ])
      const text = await textOf(server, '/swap.html')
      for (const id of ['a', 'b']) expect(text.split(`id="${id}"`), id).to.have.length(2)
    }
  })

  it('HTTP-108 of many moves of one document one succeeds, and it is in one place', async () => {
    await put(server, '/one.html', page('one'))
    const answers = await times(8, i => http('MOVE', '/one.html', { Destination: `/to/${i}.html` }))
    expect(answers.map(answer => answer.status).sort()).to.deep.equal([204, ...Array(7).fill(404)])
    expect((await server.site.store.list('/to/')).map(resource => resource.path)).to.deep.equal([
      `/to/${answers.findIndex(answer => answer.status === 204)}.html`,
    ])
  })

  it('HTTP-108 documents moved in a ring come to an end without losing one', async () => {
    const names = ['/ring/a.html', '/ring/b.html', '/ring/c.html']
    for (let round = 0; round < 5; round++) {
      for (const name of names) await put(server, name, page(name))
      const answers = await times(3, i =>
        http('MOVE', names[i] ?? '', { Destination: names[(i + 1) % 3] ?? '', Overwrite: 'F' }),
      )
      const held = await server.site.store.list('/ring/')
      expect(held).to.have.length(3)
      expect(answers.every(answer => answer.status === 412)).to.equal(true)
    }
  })

  it('HTTP-108 moves crossing each other do not wait for ever', async () => {
    for (let round = 0; round < 10; round++) {
      await put(server, '/x1.html', page('1'))
      await put(server, '/x2.html', page('2'))
      const answers = await Promise.all([
        http('MOVE', '/x1.html', { Destination: '/x2.html' }),
        http('MOVE', '/x2.html', { Destination: '/x1.html' }),
      ])
      expect(answers.map(answer => answer.status).every(status => status === 204 || status === 404)).to.equal(true)
      // One is replaced by the other, which then may move back.
      const found = await Promise.all(['/x1.html', '/x2.html'].map(path => http('GET', path)))
      expect(found.filter(read => read.status === 200)).to.have.length(1)
    }
  })

  it('HTTP-4 readers see the old or the new version, never a mixture', async () => {
    const text = (letter: string) => page(`<p id="x">${letter.repeat(3000)}</p><p id="y">${letter.repeat(3000)}</p>`)
    await put(server, '/live.html', text('a'))
    let done = false
    const whole = (received: Received) => {
      const letters = /<p id="x">(\w)\1*<\/p><p id="y">(\w)\2*<\/p>/.exec(received.text)
      expect(letters?.[1]).to.equal(letters?.[2])
      expect(received.body.length).to.equal(Buffer.byteLength(text('a')))
      return letters?.[1] ?? ''
    }
    const seen = new Set<string>()
    const writer = (async () => {
      for (let i = 0; i < 60; i++) await http('PUT', '/live.html', {}, text('abcdef'.charAt(i % 6)))
      done = true
    })()
    const readers = times(8, async () => {
      while (!done) {
        seen.add(whole(await http('GET', '/live.html')))
        const part = await http('GET', '/live.html', { ...selecting('p'), Accept: 'multipart/mixed' })
        const letters = [...part.text.matchAll(/<p id=".">(\w)\1*<\/p>/g)].map(found => found[1])
        expect(letters).to.have.length(2)
        expect(letters[0]).to.equal(letters[1])
      }
    })
    await Promise.all([writer, readers])
    expect(seen.size).to.be.above(1)
  })

  it('HTTP-4 tag and content of a read belong together while writers are at work', async () => {
    await put(server, '/pair.html', page('<p>0</p>'))
    let done = false
    const byTag = new Map<string, string>()
    const writer = (async () => {
      for (let i = 1; i < 60; i++) await http('PUT', '/pair.html', selecting('p'), `<p>${i}</p>`)
      done = true
    })()
    const readers = times(6, async () => {
      while (!done) {
        const read = await http('GET', '/pair.html', selecting('p'))
        const known = byTag.get(tagOf(read))
        if (known !== undefined) expect(read.text).to.equal(known)
        byTag.set(tagOf(read), read.text)
      }
    })
    await Promise.all([writer, readers])
    expect(new Set(byTag.values()).size).to.equal(byTag.size)
  })

  it('HTTP-4 whole and element writes, deletes and reads on the same document never fail otherwise than told', async () => {
    await put(server, '/busy.html', page('<ul id="l"><li>0</li></ul>'))
    const kinds: ((i: number) => Promise<Received>)[] = [
      i => http('PUT', '/busy.html', {}, page(`<ul id="l"><li>whole ${i}</li></ul>`)),
      i => http('POST', '/busy.html', selecting('#l'), `<li>append ${i}</li>`),
      i => http('PUT', '/busy.html', selecting('#l li'), `<li>put ${i}</li>`),
      () => http('DELETE', '/busy.html', selecting('#l li')),
      () => http('MOVE', '/busy.html', moving('/busy.html', '#l li', '#l', 'append')),
      () => http('GET', '/busy.html', selecting('#l')),
      () => http('DELETE', '/busy.html'),
    ]
    const answers = await times(140, i => (kinds[i % kinds.length] ?? kinds[0])?.(i) as Promise<Received>)
    for (const [i, answer] of answers.entries()) {
      expect(answer.status, `${i % kinds.length}`).to.be.oneOf([200, 201, 204, 206, 404, 416])
    }
    await put(server, '/busy.html', page('<ul id="l"></ul>'))
    expect((await http('POST', '/busy.html', selecting('#l'), '<li>after</li>')).status).to.equal(206)
  })

  it('DAV-8 a write that waits too long for another of its document is 503, and later ones pass', async () => {
    const impatient = await startServer({ settings: { limits: { leaseWait: '50ms' } } })
    try {
      const ask = client(impatient.port)
      await put(impatient, '/rules.html', rulesPage(['*', 'PUT|POST|DELETE|MOVE', 'Allow', '/*']))
      await put(impatient, '/d.html', page('<p>x</p>'))
      const { leases, store } = impatient.site
      await leases.hold(store.name, ['/d.html'], async () => {
        for (const [method, fields] of [
          ['PUT', {}],
          ['PUT', selecting('p')],
          ['DELETE', {}],
          ['MOVE', { Destination: '/e.html' }],
        ] as const) {
          const answer = await ask(method, '/d.html', fields, '<p>y</p>')
          expect(failureOf(answer), method).to.equal('503 Unavailable')
          expect(Number(answer.headers['retry-after']), method).to.be.above(0)
        }
        expect((await ask('PUT', '/other.html', {}, 'x')).status).to.equal(201)
        expect((await ask('GET', '/d.html')).text).to.equal(page('<p>x</p>'))
      })
      expect((await ask('PUT', '/d.html', selecting('p'), '<p>y</p>')).status).to.equal(206)
    } finally {
      await impatient.close()
    }
  })

  it('HTTP-4 writes to many documents do not wait for one that is slow to arrive', async () => {
    const connection = await connect(server.port)
    connection.send(requestBytes('PUT', '/slow.html', { 'Content-Length': '10', Expect: '100-continue' }))
    expect((await connection.receive()).status).to.equal(100)
    connection.send('12345')
    expect((await http('PUT', '/slow.html', {}, page('quick'))).status).to.equal(201)
    expect((await http('PUT', '/other.html', {}, page('quick'))).status).to.equal(201)
    connection.send('67890')
    expect((await connection.receive()).status).to.equal(200)
    connection.close()
    expect(await textOf(server, '/slow.html')).to.equal('1234567890')
  })
})
