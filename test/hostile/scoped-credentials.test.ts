import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { trigger } from '../pipeline/react/site.ts'
import { NS, page, put, ruleMarkup, rulesPage } from '../support/content.ts'
import { type Client, client, type Fields } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const OPEN = ruleMarkup(['*', '*', 'Allow', '/*'])
const OURS = 'https://t.example/Ours'
const LOCK_INFO = '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>'
const TRIGGER = `<div itemscope itemtype="${NS}/Trigger"><b itemprop="method">PUT</b></div>`

describe("a credential's scope as boundary: who may configure", () => {
  let server: TestServer
  let limited: Client
  let trusted: Client
  let whole: Client
  let writer: Client

  before(async () => {
    const credentials = [
      { user: 'limited', password: 'limited', scope: ['/part/*'] },
      { user: 'trusted', password: 'trusted', scope: ['/part/*'], configure: true },
      { user: 'whole', password: 'whole' },
      { user: 'writer', password: 'writer', configure: false },
    ]
    server = await startServer({ site: { credentials } })
    const port = Number(new URL(server.mountUrl).port)
    const as = (user: string) =>
      client(port, { Authorization: `Basic ${Buffer.from(`${user}:${user}`).toString('base64')}` })
    limited = as('limited')
    trusted = as('trusted')
    whole = as('whole')
    writer = as('writer')
  })
  after(() => server.close())
  beforeEach(async () => {
    await put(server, '/part/rules.html', rulesPage(['*', 'DELETE', 'Deny', '/x']))
    await put(server, '/part/list.html', page(`<ul id="l"></ul>${TRIGGER}`))
    await put(server, '/part/sub/deep/trigger.html', page(TRIGGER))
    await put(server, '/part/code/sub/x.html', page(`<b itemscope itemtype="${NS}/Sessel">1</b>`))
    await put(server, '/part/empty/x.html', page('x'))
    await put(server, '/part/rules.txt', page(OPEN), 'text/plain')
    await put(server, '/part/named', page(TRIGGER), 'text/html')
    await put(server, '/part/named.xml', TRIGGER.replace('itemscope', 'itemscope=""'), 'application/xml')
    for (const name of ['draft.html', '~$e']) await limited('PUT', `/part/${name}`, {}, '')
  })

  const url = (path: string) => ({ Destination: path })
  const cases: [string, string, string, Fields, string | undefined][] = [
    ['a page with a rule', 'PUT', '/part/new.html', {}, page(OPEN)],
    ['a page with a trigger', 'PUT', '/part/new.html', {}, page(TRIGGER)],
    ['another rule in place of one', 'PUT', '/part/rules.html', {}, page(OPEN)],
    ['a page without the rules it had', 'PUT', '/part/rules.html', {}, page('x')],
    ['a file in place of a document with a trigger', 'PUT', '/part/named', { 'Content-Type': 'text/plain' }, 'x'],
    ['a file in place of XML with a trigger', 'PUT', '/part/named.xml', { 'Content-Type': 'image/png' }, 'x'],
    ['an empty file in place of one', 'PUT', '/part/named', { 'Content-Type': 'text/plain' }, ''],
    ['a rule by selector', 'POST', '/part/list.html', { Range: 'selector=#l' }, `<li>${OPEN}</li>`],
    [
      'a trigger changed by selector',
      'PUT',
      '/part/list.html',
      { Range: 'selector=b' },
      '<b itemprop="method">GET</b>',
    ],
    ['the end of rules', 'DELETE', '/part/rules.html', {}, undefined],
    ['the end of a collection with rules', 'DELETE', '/part/', {}, undefined],
    ['a copy of rules', 'COPY', '/part/rules.html', url('/part/copy.html'), undefined],
    ['a blob that becomes rules', 'MOVE', '/part/rules.txt', url('/part/moved.html'), undefined],
    ['rules put aside under the name of a work file', 'MOVE', '/part/rules.html', url('/part/rules.html~'), undefined],
    ['a copy of a blob that becomes rules', 'COPY', '/part/rules.txt', url('/part/copied.html'), undefined],
    ['the end of a collection with a trigger', 'DELETE', '/part/sub/', {}, undefined],
    ['a copy of a collection with a trigger', 'COPY', '/part/sub/', url('/part/sub2/'), undefined],
    ['a copy over a collection with a trigger', 'COPY', '/part/empty/', url('/part/sub/'), undefined],
    ['the end of code', 'DELETE', '/part/code/sub/x.html', {}, undefined],
    ['the end of a collection with code', 'DELETE', '/part/code/', {}, undefined],
    ['a copy over code', 'COPY', '/part/list.html', url('/part/code/sub/x.html'), undefined],
    ['a copy over rules', 'COPY', '/part/rules.txt', url('/part/rules.html'), undefined],
    ['an empty file over rules, which would replace them later', 'PUT', '/part/rules.html', {}, ''],
    ['a draft renamed over rules', 'MOVE', '/part/draft.html', url('/part/rules.html'), undefined],
    ['a copy of a draft over rules', 'COPY', '/part/draft.html', url('/part/rules.html'), undefined],
    ['an empty work file renamed over rules', 'MOVE', '/part/~$e', url('/part/rules.html'), undefined],
    ['a copy of an empty work file over rules', 'COPY', '/part/~$e', url('/part/rules.html'), undefined],
  ]
  for (const [what, method, path, fields, body] of cases)
    it(`SEC-10 refuses ${what}, and changes nothing`, async () => {
      const { Destination: to } = fields
      const sent = typeof to === 'string' ? { ...fields, Destination: server.mountUrl + to } : fields
      const before = await whole('PROPFIND', '/part/', { Depth: '1' })
      const answer = await limited(method, path, sent, body)
      expect(answer.status, answer.text).to.equal(403)
      expect(answer.text).to.match(/configure the site/)
      expect((await whole('PROPFIND', '/part/', { Depth: '1' })).text).to.equal(before.text)
      expect((await client(server.port)('PUT', '/secret.html', {}, page('x'))).status).to.equal(401)
    })

  it('SEC-10 refuses what changes what a rule refers to, which the item itself does not show', async () => {
    const rule = `<div itemscope itemtype="${NS}/AuthorizationRule" itemref="r"></div>`
    const fields = (action: string) =>
      ['actor:*', 'method:GET', 'resource:/x', `action:${action}`]
        .map(field => field.split(':'))
        .map(([name, content]) => `<meta itemprop="${name}" content="${content}">`)
        .join('')
    const saved = (action: string) => page(`${rule}<p id="r">${fields(action)}</p><i>${action}</i>`)
    await put(server, '/part/refers.html', saved('Deny'))
    expect((await limited('PUT', '/part/refers.html', {}, saved('Allow'))).status).to.equal(403)
    expect((await limited('PUT', '/part/refers.html', {}, saved('Deny').replace('<i>', '<i>a'))).status).to.equal(204)
    await whole('DELETE', '/part/refers.html')
  })

  it('SEC-10 refuses an item in XML where HTML would have text', async () => {
    for (const name of ['style', 'title', 'xmp']) {
      const held = (item: string) => `<f><${name}>${item}</${name}></f>`
      const item = `<b itemscope="" itemtype="${NS}/Sessel"/>`
      expect((await limited('PUT', '/part/held.xml', {}, held(item))).status, name).to.equal(403)
      expect((await limited('PUT', '/part/held.xml', {}, held('<b/>'))).status, name).to.be.oneOf([201, 204])
      expect((await limited('PUT', '/part/held.xml', {}, held(item))).status, name).to.equal(403)
    }
    await whole('DELETE', '/part/held.xml')
  })

  it('SEC-10 rules that somebody else is saving are not put aside', async () => {
    expect((await whole('PUT', '/part/rules.html', {}, '')).status).to.equal(204)
    const aside = { Destination: `${server.mountUrl}/part/~$aside` }
    expect((await limited('MOVE', '/part/rules.html', aside)).status).to.equal(403)
    expect((await limited('PUT', '/part/rules.html', {}, '')).status).to.equal(403)
    expect((await whole('MOVE', '/part/rules.html', aside)).status).to.equal(201)
  })

  it('SEC-10 everything else is written as before, beside configuration too', async () => {
    expect((await limited('PUT', '/part/plain.html', {}, page('<p>x</p>'))).status).to.equal(201)
    expect((await limited('PUT', '/part/list.html', {}, page(`<ul id="l"><li>y</ul>${TRIGGER}`))).status).to.equal(204)
    const posted = await limited('POST', '/part/list.html', { Range: 'selector=#l' }, '<li>z</li>')
    expect(posted.status).to.be.oneOf([200, 201, 206])
    const moved = { Destination: `${server.mountUrl}/part/rules2.html` }
    expect((await limited('MOVE', '/part/rules.html', moved)).status).to.equal(201)
    expect((await limited('PUT', '/part/plain.html', {}, '')).status).to.equal(204)
    const over = { Destination: `${server.mountUrl}/part/plain.html` }
    expect((await limited('MOVE', '/part/draft.html', over)).status).to.equal(204)
    expect((await limited('DELETE', '/part/plain.html')).status).to.equal(204)
  })

  for (const [what, path, type, text] of [
    ['XML whose name does not say so', '/part/feed', 'application/xml', `<f><b/>${TRIGGER}</f>`],
    ['HTML that begins like XML', '/part/old.html', 'text/html', `<?xml version="1.0"?>\n${page(`<br>${TRIGGER}`)}`],
  ] as const)
    it(`SEC-10 ${what} is saved beside its configuration, which stays`, async () => {
      const isXml = type !== 'text/html'
      const stored = isXml ? text.replace('itemscope', 'itemscope=""') : text
      await put(server, path, stored, type)
      const save = (sent: string) => limited('PUT', path, { 'Content-Type': type }, sent)
      expect((await save(stored.replace(isXml ? '<b/>' : '<br>', '<b>1</b>'))).status).to.equal(204)
      expect((await save(stored.replace('PUT', 'GET'))).status).to.equal(403)
    })

  it('SEC-10 a collection copied without its members brings no configuration', async () => {
    const alone = { Destination: `${server.mountUrl}/part/alone/`, Depth: '0' }
    expect((await limited('COPY', '/part/sub/', alone)).status).to.equal(201)
  })

  it('SEC-10 a work folder that is refused when it is published takes nothing with it that others have stored there', async () => {
    await limited('MKCOL', '/part/._work/')
    for (const name of ['a', 'b', 'c', 'd', 'e']) await limited('PUT', `/part/._work/${name}.html`, {}, page('x'))
    await limited('PUT', '/part/._work/z.html', {}, page(OPEN))
    let theirs: Promise<void> | undefined
    server.site.watch(paths => {
      if ([...paths].includes('/part/made/a.html')) theirs ??= put(server, '/part/made/rules.html', rulesPage())
    })
    const to = { Destination: `${server.mountUrl}/part/made/` }
    expect((await limited('MOVE', '/part/._work/', to)).status).to.equal(403)
    await theirs
    const listed = (await whole('PROPFIND', '/part/made/', { Depth: '1' })).text
    expect(listed.match(/\/made\/\w+\.html/g)).to.deep.equal(['/made/rules.html'])
    await whole('DELETE', '/part/made/')
    expect((await limited('MOVE', '/part/._work/', to)).status).to.equal(403)
    expect((await whole('PROPFIND', '/part/made/', { Depth: '0' })).status).to.equal(404)
    await limited('DELETE', '/part/._work/')
  })

  it('SEC-10 another path does not make another schema of a type count', async () => {
    const lone = `<div itemscope itemtype="${NS}/Schema"><b itemprop="type">https://t.example/Once</b></div>`
    const schema = (name: string) =>
      page(
        `<div itemscope itemtype="${NS}/Schema"><b itemprop="type">https://t.example/Twice</b>` +
          `<div itemprop="property" itemscope itemtype="${NS}/Property"><b itemprop="name">${name}</b></div></div>` +
          (name === 'old' ? lone : ''),
      )
    await put(server, '/part/m.html', schema('counts'))
    await put(server, '/part/old/z.html', schema('old'))
    const move = (from: string, to: string) => limited('MOVE', from, { Destination: server.mountUrl + to })
    expect((await move('/part/old/z.html', '/part/a.html')).status).to.equal(403)
    expect((await move('/part/old/', '/part/a/')).status).to.equal(403)
    expect((await move('/part/m.html', '/part/z.html')).status).to.equal(403)
    expect((await move('/part/old/z.html', '/part/z.html')).status).to.equal(201)
    expect((await move('/part/m.html', '/part/l.html')).status).to.equal(201)
    for (const path of ['/part/l.html', '/part/z.html']) await whole('DELETE', path)
  })

  it('SEC-10 REA-11 another path does not have triggers run in another order', async () => {
    const answering = (status: number) =>
      page(
        trigger({
          resource: '/ordered.html',
          action: `@schema HTTPResponse url("${NS}/HTTPResponse"); throw new HTTPResponse { status: ${status} }`,
        }),
      )
    await put(server, '/ordered/m.html', answering(403))
    await put(server, '/ordered/sub/z.html', answering(418))
    const visit = async () => (await client(server.port)('GET', '/ordered.html')).status
    const move = (from: string, to: string) => writer('MOVE', from, { Destination: server.mountUrl + to })
    for (const [from, to] of [
      ['/ordered/sub/z.html', '/ordered/a.html'],
      ['/ordered/sub/', '/a/'],
      ['/ordered/m.html', '/ordered/z.html'],
    ] as const)
      expect((await move(from, to)).status, `${from} ${to}`).to.equal(403)
    expect(await visit()).to.equal(403)
    expect((await move('/ordered/sub/', '/ordered/n/')).status).to.equal(201)
    expect((await move('/ordered/', '/ordinary/')).status).to.equal(201)
    expect(await visit()).to.equal(403)
    await whole('DELETE', '/ordinary/')
  })

  const named = (source: string) => `${'$'}{#open} from ${source}`
  const looking = (source: string) => `(${named(source)}).first() == null`
  const getting = (program: string) => `@schema P url("${NS}/1.0"); ${program} == null`
  for (const [when, isRelative] of [
    [looking('"switch.html"'), true],
    [looking('"/conf/switch.html"'), false],
    [looking('Context.request.path'), true],
    [looking('"/conf/switch.html", "other.html"'), true],
    [`let self = "switch.html"; ${looking('self')}`, true],
    [getting('P.GET("switch.html")'), true],
    [getting('P.GET("/conf/switch.html")'), false],
    [getting('P.GET("/conf/" + Context.request.method)'), false],
    [getting('let Q = P; Q.GET("switch.html")'), true],
    ['"all from us" == null', false],
  ] as const)
    it(`SEC-10 SES-125 another folder ${isRelative ? 'does not have' : 'may have'} code such as ${when}`, async () => {
      const guard = trigger({ resource: '/guarded.html', when, action: '1 / 0' })
      await put(server, '/conf/sub/t.html', page(guard))
      await put(server, '/conf/sub/a.html', page(TRIGGER))
      const move = async (from: string, to: string) =>
        (await writer('MOVE', from, { Destination: server.mountUrl + to })).status
      const [moved, refused] = [201, isRelative ? 403 : 201]
      expect(await move('/conf/sub/t.html', '/conf/t.html')).to.equal(refused)
      expect(await move('/conf/sub/', '/conf/sup/')).to.equal(refused)
      await put(server, '/conf/sub/t.html', page(guard))
      expect(await move('/conf/sub/t.html', '/conf/sub/s.html')).to.equal(moved)
      await whole('DELETE', '/conf/')
    })

  const sessel = (name: string, source: string) =>
    `<div itemprop="${name}" itemscope itemtype="${NS}/Sessel"><script itemprop="source">${source}</script></div>`
  const member = (kind: string, name: string, code: string) =>
    `<div itemprop="property" itemscope itemtype="${NS}/${kind}"><b itemprop="name">${name}</b>${code}</div>`
  for (const [source, refused] of [
    ['"switch.html"', 403],
    ['"/conf/switch.html"', 201],
  ] as const)
    it(`SEC-10 SES-125 another folder ${refused === 403 ? 'does not have' : 'may have'} code that calls what looks at ${source}`, async () => {
      const opens = member('Method', 'opens', sessel('implementation', `(${named(source)}).first()`))
      await put(
        server,
        '/ours.html',
        page(`<div itemscope itemtype="${NS}/Schema"><b itemprop="type">${OURS}</b>${opens}</div>`),
      )
      const when = `@schema Ours url("${OURS}"); (new Ours {}).opens() == null`
      await put(server, '/conf/sub/t.html', page(trigger({ resource: '/guarded.html', when, action: '1 / 0' })))
      const to = { Destination: `${server.mountUrl}/conf/t.html` }
      expect((await writer('MOVE', '/conf/sub/t.html', to)).status).to.equal(refused)
      for (const path of ['/conf/', '/ours.html']) await whole('DELETE', path)
    })

  for (const [source, use, refused] of [
    ['"switch.html"', 'let { f } = Context; f()', 403],
    ['"switch.html"', '[1].map(Context.f).first()', 403],
    ['"switch.html"', 'true', 201],
    ['"/conf/switch.html"', 'let { f } = Context; f()', 201],
  ] as const)
    it(`SEC-10 REA-43 another folder ${refused === 403 ? 'does not have' : 'may have'} code with ${use} where other code has left what looks at ${source}`, async () => {
      const left = `Context.f = () => (${named(source)}).first() != null; false`
      await put(server, '/before.html', page(trigger({ resource: '/guarded.html', when: left, action: '1 / 0' })))
      await put(server, '/conf/sub/t.html', page(trigger({ resource: '/guarded.html', when: use, action: '1 / 0' })))
      const to = { Destination: `${server.mountUrl}/conf/t.html` }
      expect((await writer('MOVE', '/conf/sub/t.html', to)).status).to.equal(refused)
      for (const path of ['/conf/', '/before.html']) await whole('DELETE', path)
    })

  it('SEC-10 REA-43 nor code that calls methods, which look beside it, of what other code has left', async () => {
    const opens = member('Method', 'opens', sessel('implementation', `(${named('"switch.html"')}).first() != null`))
    const schema = `<div itemscope itemtype="${NS}/Schema"><b itemprop="type">${OURS}</b>${opens}</div>`
    await put(server, '/ours.html', page(schema))
    const use = trigger({ resource: '/guarded.html', when: 'Context.ours.opens()', action: '1 / 0' })
    await put(server, '/conf/sub/t.html', page(use))
    const to = { Destination: `${server.mountUrl}/conf/t.html` }
    expect((await writer('MOVE', '/conf/sub/t.html', to)).status).to.equal(403)
    for (const path of ['/conf/', '/ours.html']) await whole('DELETE', path)
  })

  const beside = `(${named('"open.html"')}).first()`
  for (const [what, members] of [
    ['what stands beside them', member('Method', 'includes', sessel('implementation', beside))],
    [
      'a property that is computed from it',
      member('Method', 'includes', sessel('implementation', 'self.open')) +
        member('Property', 'open', sessel('@computed', beside)),
    ],
  ] as const)
    it(`SEC-10 GRP-4 nor groups that decide by ${what}`, async () => {
      const parent = `<b itemprop="type">${OURS}</b><b itemprop="parent">${NS}/Group</b>`
      await put(server, '/ours.html', page(`<div itemscope itemtype="${NS}/Schema">${parent}${members}</div>`))
      const group = `<p itemscope itemtype="${OURS}"><b itemprop="name">ours</b></p>`
      await put(server, '/conf/g.html', page(group))
      const to = { Destination: `${server.mountUrl}/part/g.html` }
      expect((await writer('MOVE', '/conf/g.html', to)).status).to.equal(403)
      expect((await whole('MOVE', '/conf/g.html', to)).status).to.equal(201)
      for (const path of ['/part/g.html', '/ours.html', '/conf/']) await whole('DELETE', path)
    })

  it('DAV-3 MOD-8 what documents outside of the scope hold is told by no count of findings', async () => {
    const rules = (selector: string) => rulesPage(['*', 'GET', 'Deny', '/*', selector])
    await put(server, '/elsewhere.html', page('<zebra>x</zebra>'))
    const told = async (by: Client, selector: string) =>
      (await by('PUT', '/part/told.html', {}, rules(selector))).headers['platform-findings']
    expect([await told(whole, 'zebra'), await told(whole, 'horse')]).to.deep.equal([undefined, '1'])
    expect([await told(trusted, 'zebra'), await told(trusted, 'horse')]).to.deep.equal([undefined, undefined])
    for (const path of ['/part/told.html', '/elsewhere.html']) await whole('DELETE', path)
  })

  it('SEC-10 a credential that may configure does, whatever its scope', async () => {
    const rules = rulesPage(['*', 'PUT', 'Allow', '/part/open.html'])
    expect((await trusted('PUT', '/part/mine.html', {}, rules)).status).to.equal(201)
    expect((await trusted('DELETE', '/part/mine.html')).status).to.equal(204)
    expect((await whole('PUT', '/part/mine.html', {}, rules)).status).to.equal(201)
  })
})

describe('a credential for pages alone, which opens the folder of a name and not the file', () => {
  const PIN = '4711'
  let server: TestServer
  let pages: Client
  before(async () => {
    server = await startServer({
      site: {
        credentials: [
          { user: 'pages', password: 'pages', scope: ['/a/*.html'] },
          { user: 'whole', password: 'whole' },
        ],
      },
    })
    const Authorization = `Basic ${Buffer.from('pages:pages').toString('base64')}`
    pages = client(Number(new URL(server.mountUrl).port), { Authorization })
  })
  after(() => server.close())
  beforeEach(async () => {
    await put(server, '/a/1.html', page('mine'))
    await put(server, '/a/sub/2.html', page('mine'))
    await put(server, '/a/pin.txt', PIN)
  })

  for (const method of ['COPY', 'MOVE'])
    for (const from of ['/a/1.html', '/a/sub/'])
      it(`DAV-3 DAV-8 ${method} of ${from} neither replaces nor makes a file outside of its scope`, async () => {
        for (const fields of [{}, { Overwrite: 'F' }])
          expect((await pages(method, from, { ...fields, Destination: '/a/pin.txt/' })).status).to.equal(403)
        expect(Buffer.from((await server.site.find('/a/pin.txt'))?.bytes ?? []).toString()).to.equal(PIN)
        const free = await pages(method, from, { Destination: '/a/free.js/' })
        // A folder of this name may hold its index.
        expect(free.status).to.equal(from.endsWith('/') ? 201 : 403)
        expect(await server.site.find('/a/free.js')).to.equal(undefined)
        await pages('DELETE', '/a/free.js/')
      })

  it('DAV-3 DAV-47 no condition of a MKCOL confirms what is in it', async () => {
    const tag = async (guess: string) => {
      await put(server, '/guess.txt', guess)
      return (await server.site.find('/guess.txt'))?.tag ?? ''
    }
    const of = async (field: string, guess: string) =>
      (await pages('MKCOL', '/a/pin.txt/', { [field]: await tag(guess) })).status
    for (const field of ['If-Match', 'If-None-Match'])
      expect(await of(field, PIN), field).to.equal(await of(field, '4712'))
  })

  it('DAV-3 DAV-86 nothing that is asked of the folder, or below it, tells of a lock on the file', async () => {
    const whole = client(Number(new URL(server.mountUrl).port), {
      Authorization: `Basic ${Buffer.from('whole:whole').toString('base64')}`,
    })
    const below = ['/a/pin.txt/sub/', '/a/pin.txt/x.html']
    const elements = { Range: 'selector=p' }
    const requests: [string, string, Fields, string | undefined][] = [
      ...['/a/pin.txt/', ...below].flatMap((path): [string, string, Fields, string | undefined][] => [
        ['PUT', path, elements, '<p>x</p>'],
        ['POST', path, elements, '<p>x</p>'],
        ['DELETE', path, elements, undefined],
        [
          'MOVE',
          path,
          { ...elements, Destination: path, 'Destination-Range': 'selector=p; placement=after' },
          undefined,
        ],
      ]),
      ...below.flatMap((path): [string, string, Fields, string | undefined][] => [
        ['MKCOL', path, {}, undefined],
        ['LOCK', path, {}, LOCK_INFO],
        ['PUT', path, {}, page('x')],
        ['COPY', '/a/1.html', { Destination: path }, undefined],
        ['COPY', '/a/sub/', { Destination: path }, undefined],
      ]),
    ]
    const ask = async () => {
      const answers = []
      for (const [method, path, fields, body] of requests)
        answers.push(`${method} ${path} ${(await pages(method, path, fields, body)).status}`)
      return answers
    }
    const free = await ask()
    const locked = await whole('LOCK', '/a/pin.txt', {}, LOCK_INFO)
    expect(locked.status).to.equal(200)
    expect(await ask()).to.deep.equal(free)
    expect((await whole('UNLOCK', '/a/pin.txt', { 'Lock-Token': locked.headers['lock-token'] })).status).to.equal(204)
  })
})
