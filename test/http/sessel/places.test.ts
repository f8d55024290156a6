// biome-ignore-all lint/suspicious/noTemplateCurlyInString: selector literals of programs look like templates
/** Programs in every place that section 1 of the language names, as authors write them, on a real server. */

import { expect } from 'chai'
import { NS, page, put, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client, type Fields } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const GREETER = 'https://example.com/Greeter'

/** Code as it stands in a slot. */
const code = (slot: string, source: string, type = `${NS}/Sessel`, script = 'text/sessel') =>
  `<div itemprop="${slot}" itemscope itemtype="${type}"><script itemprop="source" type="${script}">${source}</script></div>`

const bound = (attributes: string, body: string) =>
  `<!doctype html><html xmlns:e="${NS}/Binding/Sessel" xmlns:p="${NS}/1.0" xmlns:g="${GREETER}"><body ${attributes}>${body}</body></html>`

const parameter = (name: string) =>
  `<div itemprop="parameter" itemscope itemtype="${NS}/Parameter"><meta itemprop="name" content="${name}"></div>`

const method = (name: string, source: string, ...parameters: string[]) =>
  `<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="${name}">${parameters.map(parameter).join('')}${code('implementation', source)}</div>`

const METHODS = `<div itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="${GREETER}">
<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="hello"><meta itemprop="returns" content="${NS}/Element">
  <div itemprop="parameter" itemscope itemtype="${NS}/Parameter"><meta itemprop="name" content="who"><meta itemprop="type" content="https://schema.org/Text"></div>
  <div itemprop="implementation" itemscope itemtype="${NS}/Sessel"><script itemprop="source" type="text/sessel">new b { "Hello, " + (who ?? "you") + "!" }</script></div></div>
${method('kind', '"none"')}${method('kind', '"a " + (a ?? "-")', 'a')}${method('kind', '"ab " + a + b', 'a', 'b')}
${method('two', '"#{x ?? "-"}#{y ?? "-"}"', 'x', 'y')}
${method('gone', 'null')}${method('many', '["<i>", new i { "x" }, 7]')}
${method('own', 'self.attr("data-k")')}
${method('doesNotUnderstand', 'messageName + ":" + parameters.map(p => p isa Map ? p.name + "=" + p.value : p).join(",")', 'messageName', 'parameters')}
</div>`

describe('Places where programs run', () => {
  let server: TestServer
  let http: Client
  before(async () => {
    server = await startServer()
    http = client(server.port)
    await putAll(server, {
      '/methods.html': page(METHODS),
      '/private.html': page('<h1>Secret</h1>'),
      '/teas.html': page('<li class="tea">a</li><li class="tea">b</li>'),
      '/pic.png': Buffer.from([1, 2, 3]),
      '/old/index.html': page('index'),
      '/reactions.html':
        page(`<div itemscope itemtype="${NS}/Trigger"><meta itemprop="resource" content="/locked/*"><meta itemprop="method" content="PUT">
 <div itemprop="when" itemscope itemtype="${NS}/Sessel"><script itemprop="source" type="text/sessel">
  Context.request.headers["X-Key"] != "s3"</script></div>
 <div itemprop="action" itemscope itemtype="${NS}/Sessel"><script itemprop="source" type="text/sessel">
  @schema H url("${NS}/HTTPResponse"); @schema P url("${NS}/Pair");
  throw new H { status: 403, body: "<p>Key needed</p>", header: new P { key: "X-Why", value: "key" } }</script></div></div>
<div itemscope itemtype="${NS}/Processor"><meta itemprop="resource" content="/old/*"><meta itemprop="status" content="404">
 <div itemprop="action" itemscope itemtype="${NS}/Sessel"><script itemprop="source" type="text/sessel">
  Context.response.status = 410; Context.response.body = "<h1>Gone</h1>"</script></div></div>
<div itemscope itemtype="${NS}/Trigger"><meta itemprop="resource" content="/copy/*"><meta itemprop="method" content="PUT">
 ${code('action', `@schema L url("${NS}/1.0"); @schema T url("urn:x:Note"); L.PUT(new T { text: Context.request.method + Context.request.path }, "/copied.html"); L.GET("/teas.html").metadata().mimetype`)}</div>
<div itemscope itemtype="${NS}/Trigger"><meta itemprop="resource" content="/self/*"><meta itemprop="method" content="PUT">${code('action', 'self')}</div>
<div itemscope itemtype="${NS}/Trigger"><meta itemprop="resource" content="/spent/*"><meta itemprop="method" content="PUT">${code('when', 'let f = n => n == 0 ? 0 : f(n - 1) + f(n - 1); f(60)')}${code('action', '1')}</div>`),
      '/rules.html': rulesPage(['*', '*', 'Allow', '/*'], ['*', 'GET|QUERY', 'Deny', '/private.html']),
    })
  })
  after(() => server.close())

  /** What stands in the body of a page that is composed, or its status where it cannot be. */
  let pages = 0
  async function composed(attributes: string, body: string, fields: Fields = {}): Promise<string> {
    const path = `/made-${++pages}.html`
    await put(server, path, bound(attributes, body))
    const { status, text } = await http('GET', `${path}?q=1`, fields)
    return status === 200 ? text.replace(/^[\s\S]*<body[^>]*>|<\/body>[\s\S]*$/g, '').trim() : String(status)
  }

  const stamp = (name: string) => `<p:stamp ${name}></p:stamp>`

  const BINDINGS: [rule: string, attributes: string, body: string, expected: string][] = [
    [
      'SES-2',
      `e:n="(\${li.tea} from '/teas.html').count()" e:label="n > 1 ? 'many' : 'few'"`,
      `<p>${stamp('label')}</p>`,
      '<p>many</p>',
    ],
    ['SES-1', 'e:x="&quot;a&quot; + \'b\'"', stamp('x'), 'ab'],
    ['SES-1', `e:x="  1 &lt; 2 ? '&amp;lt;' : 0 "`, stamp('x'), '&amp;lt;'],
    ['SES-2', 'e:x="request.path + request.query.q"', stamp('x'), 'PATH1'],
    ['SES-2', "e:x=\"self.attr('lang') ?? 'none'\"", stamp('x'), 'none'],
    ['SES-2', 'e:x="1"', `<p e:y="x + 1"><b e:x="y * 10">${stamp('x')}</b>${stamp('x')}</p>`, '<p><b>20</b>1</p>'],
    ['SES-5', 'e:x="auth.sub"', stamp('x'), '500'],
    ['SES-5', 'e:x="query.q"', stamp('x'), '500'],
    ['SES-5', 'e:x="method"', stamp('x'), '500'],
    ['SES-6', `e:x="(\${h1} from '/private.html').first().text()"`, stamp('x'), 'Secret'],
    ['SES-6', `e:x="\${h1}.map(h => h.text()).contains('Secret')"`, stamp('x'), 'true'],
    ['SES-124', `e:x="\${li.tea}.count()"`, stamp('x'), '2'],
    ['SES-183', 'e:x="request.auth.username ?? \'nobody\'"', stamp('x'), 'nobody'],
    ['SES-182', 'e:x="Context.request.method"', stamp('x'), 'GET'],
    ['SES-214', 'e:x="1 / 0"', stamp('x'), '500'],
    ['SES-214', 'e:x="1 +"', stamp('x'), '500'],
    ['SES-214', 'e:x="throw \'x\'"', stamp('x'), '500'],
    ['SES-214', 'e:x="let f = n => n == 0 ? 0 : f(n - 1) + f(n - 1); f(60)"', stamp('x'), '503'],
    ['SES-180', `e:x="@schema H url('${NS}/HTTPResponse'); throw new H { status: 299, body: 'x' }"`, stamp('x'), '500'],
    ['SES-181', `e:x="@schema L url('${NS}/1.0'); L.GET('/teas.html').metadata().mimetype"`, stamp('x'), 'text/html'],
    ['SES-181', `e:x="@schema L url('${NS}/1.0'); L.GET('/none.html') == null"`, stamp('x'), 'true'],
    ['SES-181', `e:x="@schema L url('${NS}/1.0'); L.DELETE('/teas.html')"`, stamp('x'), '500'],
    [
      'SES-181',
      `e:x="@schema L url('${NS}/1.0'); let m = L.GET('/pic.png').metadata(); [m.mimetype, m.size, m.version isa Integer, m.created isa Temporal.Instant, m.modified isa Temporal.Instant, m.etag.isEmpty(), L.GET('/pic.png').path()]"`,
      stamp('x'),
      'image/png3truetruetruefalse/pic.png',
    ],
    ['SES-246', `e:x="'<b> & '"`, `<p>${stamp('x')}</p>`, '<p>&lt;b&gt; &amp; </p>'],
    ['SES-246', 'e:x="null"', `<p>${stamp('x')}</p>`, '<p></p>'],
    ['SES-246', '', `<p>${stamp('nothing')}</p>`, '<p></p>'],
    ['SES-246', 'e:x="new i.a { \'t\' }"', `<p>${stamp('x')}</p>`, '<p><i class="a">t</i></p>'],
    ['SES-246', `e:x="[new i, 'a', null, 2.50, true]"`, `<p>${stamp('x')}</p>`, '<p><i></i>a2.5true</p>'],
    [
      'SES-246',
      `e:x="@schema A url('urn:a'); new A { k: 'v' }"`,
      `<p>${stamp('x')}</p>`,
      '<p><div itemscope="" itemtype="urn:a"><meta itemprop="k" content="v"></div></p>',
    ],
    ['SES-175', '', '<g:hello who="Ada"></g:hello>', '<b>Hello, Ada!</b>'],
    ['SES-176', '', '<g:hello></g:hello>', '<b>Hello, you!</b>'],
    ['SES-176', '', '<g:kind></g:kind>', 'none'],
    ['SES-176', '', '<g:kind a="1"></g:kind>', 'a 1'],
    ['SES-176', '', '<g:kind b="2" a="1"></g:kind>', 'ab 12'],
    ['SES-176', '', '<g:kind z="9" a="1"></g:kind>', 'a 1'],
    ['SES-176', '', '<g:kind b="2"></g:kind>', 'none'],
    ['SES-176', '', '<g:two y="2"></g:two>', '-2'],
    ['SES-246', '', '<p><g:gone></g:gone></p>', '<p></p>'],
    ['SES-246', '', '<p><g:many></g:many></p>', '<p>&lt;i&gt;<i>x</i>7</p>'],
    ['SES-2', '', '<p><g:own data-k="v"></g:own></p>', '<p>v</p>'],
    ['SES-178', '', '<p><g:what a="1" b="2"></g:what></p>', '<p>what:a=1,b=2</p>'],
  ]
  for (const [rule, attributes, body, expected] of BINDINGS)
    it(`${rule} ${attributes} ${body}: ${expected}`, async () => {
      const found = await composed(attributes, body)
      expect(found).to.equal(expected === 'PATH1' ? `/made-${pages}.html1` : expected)
    })

  it('SES-180 the trigger of the worked examples refuses writes without a key', async () => {
    const refused = await http('PUT', '/locked/a.html', { 'Content-Type': 'text/html' }, page('x'))
    expect([refused.status, refused.text, refused.headers['x-why']]).to.deep.equal([403, '<p>Key needed</p>', 'key'])
    expect(refused.headers['content-type']).to.match(/^text\/html/)
    const stored = await http('PUT', '/locked/a.html', { 'Content-Type': 'text/html', 'X-Key': 's3' }, page('x'))
    expect(stored.status).to.equal(201)
  })

  it('SES-43 the processor of the worked examples rewrites a response', async () => {
    const gone = await http('GET', '/old/none.html')
    expect([gone.status, gone.text]).to.deep.equal([410, '<h1>Gone</h1>'])
    expect((await http('GET', '/old/')).status).to.equal(200)
  })

  it('SES-181 a trigger writes elsewhere', async () => {
    expect((await http('PUT', '/copy/a.html', { 'Content-Type': 'text/html' }, page('x'))).status).to.equal(201)
    const { text } = await http('GET', '/copied.html')
    expect(text).to.include(
      '<div itemscope="" itemtype="urn:x:Note"><meta itemprop="text" content="PUT/copy/a.html"></div>',
    )
  })

  it('SES-214 self is not bound in a trigger: an error document, and nothing is stored', async () => {
    const failed = await http('PUT', '/self/a.html', { 'Content-Type': 'text/html' }, page('x'))
    expect(failed.status).to.equal(500)
    expect(failed.text)
      .to.include('itemscope')
      .and.not.to.match(/\.ts:\d/)
    expect((await http('GET', '/self/a.html')).status).to.equal(404)
    expect((await http('PUT', '/spent/a.html', { 'Content-Type': 'text/html' }, page('x'))).status).to.equal(503)
  })

  const PERSON = 'https://example.com/Person'
  const schema = (slots: string) =>
    page(
      `<div itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="${PERSON}"><div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="name">${slots}</div></div>`,
    )
  const person = (name: string) =>
    page(`<div itemscope itemtype="${PERSON}"><span itemprop="name">${name}</span></div>`)
  const LANGUAGES: [name: string, slot: string][] = [
    ['an item of the language', code('@validate', 'self.first().value() != "bad"')],
    ['an item of its lambdas', code('@validate', 'self.first().value() != "bad"', `${NS}/Sessel/Lambda`)],
    ['whatever the script says it is', code('@validate', 'self.first().value() != "bad"', `${NS}/Sessel`, 'module')],
    ['a bare script', '<script itemprop="@validate" type="text/sessel">self.first().value() != "bad"</script>'],
    [
      'with what is stored elsewhere',
      code(
        '@validate',
        `@schema L url("${NS}/1.0"); L.GET("/pic.png").metadata().size == 3 && L.GET("/teas.html").metadata().mimetype == "text/html" && self.first().value() != "bad"`,
      ),
    ],
    ['raw text', code('@validate', '"&amp;" != "&" && self.first().value() != "bad"')],
  ]
  for (const [name, slot] of LANGUAGES)
    it(`SES-4 SES-1 the language of a slot: ${name}`, async () => {
      await put(server, '/person-schema.html', schema(slot))
      const write = (value: string) => http('PUT', '/person.html', { 'Content-Type': 'text/html' }, person(value))
      expect((await write('bad')).status).to.equal(422)
      expect((await write('good')).status).to.be.oneOf([200, 201])
      await put(server, '/person-schema.html', page(''))
    })

  const query = (path: string, program: string) => http('QUERY', path, { 'Content-Type': 'text/sessel' }, program)

  it('SES-234 nothing is self in a directory, everything else runs', async () => {
    for (const program of [
      'self',
      'self.text()',
      '${h1} from self',
      'document',
      '[1, self]',
      'let f = () => self; f()',
    ])
      expect((await query('/old/', program)).status, program).to.equal(416)
    const counted = await query('/old/', '${html}.map(h => h.path())')
    expect([counted.status, counted.text]).to.deep.equal([200, '["/old/index.html"]'])
    expect((await query('/old/', 'request.path')).text).to.equal('"/old/"')
    expect((await query('/nowhere/', '1')).status).to.equal(404)
    expect((await query('/nowhere/', 'self')).status).to.equal(404)
  })

  it('SES-60 every type there is', async () => {
    const program = `@schema A url("urn:a"); @schema S url("${NS}/Selector");
let all = [1, 1.5, "a", true, null, [], {}, self, new A, A, new S { "p" }, x => x, Temporal.Now.instant()];
let types = [["Integer", v => v isa Integer], ["Float", v => v isa Float], ["String", v => v isa String], ["Bool", v => v isa Bool],
  ["Null", v => v isa Null], ["List", v => v isa List], ["Map", v => v isa Map], ["Element", v => v isa Element],
  ["Instance", v => v isa Instance], ["Class", v => v isa Class], ["Selector", v => v isa Selector], ["Temporal", v => v isa Temporal]];
all.map(v => types.filter(t => let f = t[1]; f(v)).map(t => t[0]).join("+"))`
    const { text } = await query('/teas.html', program)
    expect(JSON.parse(text)).to.deep.equal([
      'Integer',
      'Float',
      'String',
      'Bool',
      'Null',
      'List',
      'Map',
      'Element',
      'Element+Instance',
      'Class',
      'Selector',
      '',
      'Temporal',
    ])
  })
})
