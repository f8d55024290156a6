// biome-ignore-all lint/suspicious/noTemplateCurlyInString: selector literals of programs look like templates
import { expect } from 'chai'
import { movingBetween } from '../../support/between.ts'
import { NS, page, put, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client, type Fields } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const SHOP =
  '<!doctype html><html lang="en"><body><h1>Teas</h1><ul><li class="tea" data-cat="green">Sencha <data itemprop="price" value="8">8</data></li><li class="tea" data-cat="black">Assam <data itemprop="price" value="6.5">6.50</data></li></ul></body></html>'

const GREETER = page(`<div itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="https://example.com/Person">
<div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="name"><meta itemprop="cardinality" content="1..1"></div>
<div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="age"><meta itemprop="type" content="https://schema.org/Integer"></div>
<div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="shout">
<div itemprop="@computed" itemscope itemtype="${NS}/Sessel"><script itemprop="source" type="text/sessel">self.name.upper()</script></div></div>
<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="greet">
<div itemprop="parameter" itemscope itemtype="${NS}/Parameter"><meta itemprop="name" content="word"></div>
<div itemprop="implementation" itemscope itemtype="${NS}/Sessel"><script itemprop="source" type="text/sessel">(word ?? "Hi") + " " + self.name</script></div></div></div>`)

describe('QUERY with an expression', () => {
  let server: TestServer
  let http: Client
  const query = (path: string, program: string, fields: Fields = {}) =>
    http('QUERY', path, { 'Content-Type': 'text/sessel', ...fields }, program)
  const author = () => ({
    Authorization: `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`,
  })
  let mount: Client
  let prefix = ''
  const queryMount = (path: string, program: string, fields: Fields = {}) =>
    mount('QUERY', prefix + path, { 'Content-Type': 'text/sessel', ...author(), ...fields }, program)

  before(async () => {
    server = await startServer()
    http = client(server.port)
    const { port, pathname } = new URL(server.mountUrl)
    mount = client(Number(port))
    prefix = pathname === '/' ? '' : pathname
    await putAll(server, {
      '/shop.html': SHOP,
      '/private.html': page('<h1>Secret</h1>'),
      '/notes/one.html': page('<p class="note">One</p>'),
      '/notes/two.html': page('<p class="note">Two</p>'),
      '/shut/a.html': page('<p class="note">Shut</p>'),
      '/mixed/open.html': page('<p class="note">Open</p>'),
      '/mixed/shut.html': page('<p class="note">Hidden</p>'),
      '/parts.html': page('<p class="open">1</p><p class="shut">2</p><div class="shut"><p class="open">3</p></div>'),
      '/schema.html': GREETER,
      '/people.html': page(
        '<div itemscope itemtype="https://example.com/Person"><span itemprop="name">Ada</span></div>',
      ),
      '/feed.xml': '<feed><entry>x</entry></feed>',
      '/logo.png': Buffer.from([1, 2, 3]),
      '/rules.html': rulesPage(
        [
          '*',
          'QUERY',
          'Allow',
          '/shop.html|/notes/*|/mixed/*|/parts.html|/people.html|/feed.xml|/logo.png|/none/*|/none.html',
        ],
        ['*', 'GET', 'Deny', '/mixed/shut.html'],
        ['*', 'GET', 'Deny', '/parts.html', '.shut'],
      ),
    })
  })
  after(() => server.close())

  const EXAMPLES: [program: string, status: number, answer: string][] = [
    ['(${[itemprop="price"]} from self).sum()', 200, '14.5'],
    ['${h1}.first()', 206, '<h1>Teas</h1>'],
    ['${h1}', 200, '[{"$type":"element","$html":"<h1>Teas</h1>","$source":"/shop.html"}]'],
    ['let c = "black"; ${li[data-cat=c]}.map(t => t.${ data }.first().value())', 200, '["6.5"]'],
    [
      '${li}.sort((a, b) => b.attr("data-cat") <=> a.attr("data-cat")).map((t, i) => "#{i}:#{t.attr("data-cat")}")',
      200,
      '["0:green","1:black"]',
    ],
    [
      'new ul.menu { ${li}.map(t => new li { text: t.attr("data-cat") }) }',
      206,
      '<ul class="menu"><li>green</li><li>black</li></ul>',
    ],
    ['[new br, 10 / 4, 10.0 / 4, 42.0]', 200, '[{"$type":"element","$html":"<br>"},2,2.5,42.0]'],
    ['try { "n/a".Integer() } catch (e) { e.type }', 200, '"TypeError"'],
    ['${h1} from "/private.html"', 200, '[]'],
    ['${.none}.first().text() ?? "Untitled"', 200, '"Untitled"'],
    ['Temporal.PlainDate.from("2026-01-31").add(Temporal.Duration.from("P1M"))', 200, '"2026-02-28"'],
  ]
  for (const [program, status, answer] of EXAMPLES)
    it(`SES-231 the example ${program}`, async () => {
      const got = await query('/shop.html', program)
      expect({ status: got.status, text: got.text }).to.deep.equal({ status, text: answer })
      expect(got.headers['content-type']).to.match(status === 206 ? /^text\/html/ : /^application\/sessel\+json$/)
      const same = await queryMount('/shop.html', program.includes('/private.html') ? '[]' : program)
      expect({ status: same.status, text: same.text }).to.deep.equal({ status, text: answer })
    })

  it('SES-213 SES-231 what a program has built is paid for as it is written, by what escapes make of it', async () => {
    const doubled = (name: string, unit: string, power: number) =>
      Array.from({ length: power }, (_, i) => `let ${name}${i + 1} = ${name}${i} + ${name}${i};`).reduce(
        (all, each) => all + each,
        `let ${name}0 = "${unit}";`,
      )
    // Leaves two megabytes and a half.
    const program = (unit: string) => `${doubled('a', 'a', 23)}let b = a23 + a22;${doubled('c', unit, 20)}new p { c20 }`
    expect((await query('/shop.html', program('x'))).status).to.equal(206)
    expect((await query('/shop.html', program('\u00a0'))).status).to.equal(503)
  })

  it('SES-233 the example of a slice', async () => {
    const { status, headers, text } = await query('/shop.html', '${li}', { Range: 'entries=0-0' })
    expect(status).to.equal(206)
    expect(headers['content-range']).to.equal('entries 0-0/2')
    expect(JSON.parse(text)).to.have.length(1)
    expect(headers['content-type']).to.equal('application/sessel+json')
  })

  const RANGES: [range: string, program: string, status: number, contentRange: string | undefined, text?: string][] = [
    ['entries=1-5', '[1, 2, 3]', 206, 'entries 1-2/3', '[2,3]'],
    ['entries=1-', '[1, 2, 3]', 206, 'entries 1-2/3', '[2,3]'],
    ['entries=0-2', '[1, 2, 3]', 206, 'entries 0-2/3', '[1,2,3]'],
    ['entries=3-4', '[1, 2, 3]', 416, 'entries */3'],
    ['entries=0-0', '[]', 416, 'entries */0'],
    ['entries=0-0', '5', 416, undefined],
    ['entries=0-0', '${h1}.first()', 416, undefined],
    ['entries=2-1', '[1, 2, 3]', 200, undefined, '[1,2,3]'],
    ['entries=x', '[1, 2, 3]', 200, undefined, '[1,2,3]'],
    ['selector=h1', '[1]', 200, undefined, '[1]'],
    ['bytes=0-1', '[1]', 200, undefined, '[1]'],
  ]
  for (const [range, program, status, contentRange, text] of RANGES)
    it(`SES-233 ${range} of ${program} is ${status}`, async () => {
      for (const got of [
        await query('/shop.html', program, { Range: range }),
        await queryMount('/shop.html', program, { Range: range }),
      ]) {
        expect(got.status).to.equal(status)
        expect(got.headers['content-range']).to.equal(contentRange)
        if (text !== undefined) expect(got.text).to.equal(text)
      }
    })

  const ERRORS: [what: string, path: string, program: string | Buffer, status: number, mount?: number][] = [
    ['an empty body', '/shop.html', '', 400],
    ['white space', '/shop.html', ' \n\t', 400],
    ['bytes that are not UTF-8', '/shop.html', Buffer.from([0x22, 0xff, 0x22]), 400],
    ['what does not parse', '/shop.html', '1 +', 400],
    ['a TypeError', '/shop.html', '"a" + 1', 400],
    ['an unresolved name', '/shop.html', 'nope', 400],
    ['what a program throws', '/shop.html', 'throw "x"', 400],
    [
      'a thrown response, which is none here',
      '/shop.html',
      `@schema H url("${NS}/HTTPResponse"); throw new H { status: 299 }`,
      400,
    ],
    ['another failure', '/shop.html', '1 / 0', 500],
    ['a value without JSON', '/shop.html', 'x => x', 400],
    ['a spent budget', '/shop.html', 'let f = n => n == 0 ? 0 : f(n - 1) + f(n - 1); f(40)', 503, 507],
    ['an endless text', '/shop.html', 'let f = s => f(s + s); f("xxxxxxxxxxxxxxxx")', 503, 507],
    ['an unbound self', '/notes/', 'self', 416],
    ['an unbound self in a source', '/notes/', '${p} from self', 416],
    ['nothing stored', '/none.html', '1', 404],
    ['a directory without documents', '/none/', '1', 404],
    ['a file without elements', '/logo.png', '1', 422],
    ['256 KiB of garbage', '/shop.html', '({[<'.repeat(70_000), 400],
  ]
  for (const [what, path, program, status, onMount = status] of ERRORS)
    it(`SES-236 ${status} for ${what}`, async () => {
      const type = { 'Content-Type': 'text/sessel' }
      const got = await http('QUERY', path, type, program)
      expect(got.status).to.equal(status)
      expect(got.headers['content-type']).to.match(/^text\/html/)
      expect(got.text).not.to.match(/\.ts:|at \w+ \(|node:internal/)
      const other = await mount('QUERY', prefix + path, { ...type, ...author() }, program)
      expect(other.status).to.equal(onMount)
      expect(other.text).not.to.match(/\.ts:|at \w+ \(|node:internal/)
    })

  it('SES-236 a parse error says where', async () => {
    expect((await query('/shop.html', 'let a = 1;\nlet b = );')).text).to.include('line 2, column 9')
  })

  it('SES-230 neither default-GET nor a grant of GET opens it', async () => {
    expect((await query('/private.html', '1')).status).to.equal(401)
    expect((await query('/private.html', '1 +')).status).to.equal(401)
    expect((await query('/private.html', '')).status).to.equal(401)
  })

  it('SES-230 parameters of the content type are allowed', async () => {
    expect((await query('/shop.html', '1', { 'Content-Type': 'text/sessel; charset=utf-8' })).text).to.equal('1')
  })

  it('SES-230 on the mount valid credentials suffice, and are needed', async () => {
    expect((await queryMount('/private.html', '(${h1} from self).first().text()')).text).to.equal('"Secret"')
    expect((await mount('QUERY', `${prefix}/private.html`, { 'Content-Type': 'text/sessel' }, '1')).status).to.equal(
      401,
    )
  })

  it('SES-126 a visitor reaches the document that is addressed, and nothing else', async () => {
    expect((await query('/shop.html', '${h1}.count()')).text).to.equal('1')
    for (const source of ['"/private.html"', '"/*"', '"private.html"', '"/notes/*"', '["/private.html"]'])
      expect(
        (await query('/shop.html', `(\${h1, p} from ${source}).map(e => e.path()).unique()`)).text,
        source,
      ).to.be.oneOf(['[]', '["/shop.html"]'])
    expect(
      (await query('/shop.html', '@schema P url("https://example.com/Person"); P.search().count()')).text,
    ).to.equal('0')
    const platform = await query(
      '/shop.html',
      `@schema P url("${NS}/1.0"); try { P.GET("/private.html") } catch (e) { e.type }`,
    )
    expect(platform.text).to.equal('"TypeError"')
  })

  it('SES-126 a visitor of a directory reaches what may be read below it', async () => {
    expect((await query('/notes/', '${.note}.map(n => n.text())')).text).to.equal('["One","Two"]')
    expect((await query('/mixed/', '${.note}.map(n => n.text())')).text).to.equal('["Open"]')
    expect((await query('/mixed/', '(${.note} from "/mixed/shut.html").count()')).text).to.equal('0')
    expect((await query('/notes/', '(${h1} from "/private.html").count()')).text).to.equal('0')
  })

  it('SES-126 HTTP-4 what moves below a directory meanwhile is there, and all of it', async () => {
    await putAll(server, { '/notes/a/1.html': page('<h2>1</h2>'), '/notes/a/2.html': page('<h2>2</h2>') })
    const move = (from: string, to: string) =>
      mount('MOVE', prefix + from, { ...author(), Destination: `${prefix}${to}`, Overwrite: 'F' })
    const moved = movingBetween(server.site, '/notes/a/2.html', () => move('/notes/a/', '/notes/b/'))
    expect((await query('/notes/', '${h2}.count()')).text).to.equal('2')
    expect((await moved())?.status).to.equal(201)
    const back = movingBetween(server.site, '/notes/b/2.html', () => move('/notes/b/', '/notes/a/'))
    // Of one document alone it fails.
    expect((await query('/notes/', '10 / (${h2}.count() - 1)')).text).to.equal('10')
    expect((await back())?.status).to.equal(201)
    await putAll(server, { '/none/a/1.html': page('<h2>1</h2>') })
    const { store } = server.site
    const { walk } = store
    store.walk = async function* () {
      store.walk = walk
      yield* []
      // It was listed before the move, and is read behind it.
      expect((await move('/none/a/', '/none/b/')).status).to.equal(201)
    }
    expect((await query('/none/', '${h2}.count()')).text).to.equal('1')
    for (const path of ['/notes/a/', '/none/']) await mount('DELETE', prefix + path, author())
  })

  it('SES-126 an author reaches everything by name, and what is addressed by default', async () => {
    expect((await queryMount('/shop.html', '${h1}.map(h => h.text())')).text).to.equal('["Teas"]')
    expect((await queryMount('/shop.html', '(${h1} from "/private.html").first().text()')).text).to.equal('"Secret"')
    expect((await queryMount('/notes/', '${.note}.count()')).text).to.equal('2')
    expect((await queryMount('/', '${.note}.count()')).text).to.equal('5')
    expect((await queryMount('/', '(${.note} from "/notes/*").count()')).text).to.equal('2')
  })

  it('SES-127 what a rule for elements denies is not in the tree', async () => {
    expect((await query('/parts.html', '${p}.map(p => p.text())')).text).to.equal('["1"]')
    expect((await query('/parts.html', 'self.getHTML().contains("shut")')).text).to.equal('false')
    expect((await queryMount('/parts.html', '${p}.count()')).text).to.equal('3')
  })

  it('SES-42 SES-175 schemas of the site serve programs', async () => {
    const program =
      '@schema P url("https://example.com/Person"); let p = P.search().first(); [p.name, p.shout, p.greet(), p.greet("Yo")]'
    expect((await query('/people.html', program)).text).to.equal('["Ada","ADA","Hi Ada","Yo Ada"]')
    const make = (items: string) =>
      query('/people.html', `@schema P url("https://example.com/Person"); new P { ${items} }`)
    expect((await make('')).status).to.equal(400)
    expect((await make('name: "Eve", age: 5')).status).to.equal(206)
    expect((await make('name: "Eve", age: "old"')).text).to.include('age: ')
  })

  it('SES-183 the request is there, and nobody signed in', async () => {
    const program = '[request.method, request.path, request.query.a, request.auth.username, request.auth.claims.email]'
    expect((await query('/shop.html?a=1', program)).text).to.equal('["QUERY","/shop.html","1",null,null]')
  })

  it('SES-235 tags are honoured, and nothing is changed', async () => {
    const first = await query('/shop.html', '${li}.count()')
    const again = await query('/shop.html', '${li}.count()', { 'If-None-Match': first.headers.etag })
    expect(again.status).to.equal(304)
    await query('/shop.html', '${li}.map(l => l.clone().empty())')
    expect((await http('GET', '/shop.html')).text).to.equal(SHOP)
  })

  it('SES-213 a tree stays as it is while a program looks at it', async () => {
    const slow =
      'let all = ${li}; let f = n => n < 2 ? 1 : f(n - 1) + f(n - 2); f(20); all.map(l => l.attr("data-cat"))'
    const answer = query('/shop.html', slow)
    await put(server, '/shop.html', SHOP.replace('green', 'white'))
    expect((await answer).text).to.be.oneOf(['["green","black"]', '["white","black"]'])
    await put(server, '/shop.html', SHOP)
  })

  it('SES-231 XML elements come as they are', async () => {
    expect((await query('/feed.xml', '${entry}.first()')).text).to.equal('<entry>x</entry>')
  })
})
