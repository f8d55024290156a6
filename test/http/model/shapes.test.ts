import { expect } from 'chai'
import { describe, it } from 'mocha'
import { composed } from '../../pipeline/compose/composing.ts'
import { ELEMENT, schema as methods } from '../../pipeline/compose/site-of-one-case.ts'
import { answerOf, verdictOf } from '../../pipeline/model/answers.ts'
import { type Fields, shape } from '../../pipeline/model/markup.ts'
import { onBothPlanes } from '../../pipeline/model/planes.ts'
import { page, put } from '../../support/content.ts'
import type { Fields as Headers } from '../../support/http.ts'

onBothPlanes('Data model, shapes', on => {
  /** Stores a page, then declares shapes, and writes. */
  async function judged(
    shapes: Fields[],
    body: string,
    write: [method: string, headers: Headers, body?: string],
    path = '/p.html',
  ): Promise<string> {
    await on.shelf.clear()
    await put(on.shelf.server, path, path.endsWith('.xml') ? body : page(body))
    for (const folder of ['open', 'closed']) await put(on.shelf.server, `/${folder}/file.txt`, '')
    await on.shelf.declare(...shapes.map(shape))
    const [method, headers, content] = write
    return verdictOf(await on.shelf.http(method, path, headers, content))
  }

  const selecting = (selector: string, placement?: string): Headers => ({
    Range: `selector=${selector}${placement ? `; placement=${placement}` : ''}`,
  })
  const post = (selector: string, body: string, placement?: string): [string, Headers, string] => [
    'POST',
    selecting(selector, placement),
    body,
  ]
  const putting = (selector: string, body: string): [string, Headers, string] => ['PUT', selecting(selector), body]
  const removing = (selector: string): [string, Headers] => ['DELETE', selecting(selector)]
  const moving = (source: string, anchor: string, placement: string): [string, Headers] => [
    'MOVE',
    { ...selecting(source), Destination: '/p.html', 'Destination-Range': `selector=${anchor}; placement=${placement}` },
  ]

  describe('MOD-91 where a shape applies', () => {
    for (const [resource, path, applies] of [
      [undefined, '/p.html', true],
      ['/p.html', '/p.html', true],
      ['/*', '/deep/er/p.html', true],
      ['/deep/*', '/deep/er/p.html', true],
      ['/deep/*', '/p.html', false],
      [['/x.html', '/p.html'], '/p.html', true],
      [['/x.html', '/y.html'], '/p.html', false],
    ] as const) {
      it(`${resource ?? 'everywhere'} on ${path}: ${applies ? 'checked' : 'not checked'}`, async () => {
        const fields = { ...(resource && { resource }), selector: '#l', permit: 'li' }
        const verdict = await judged([fields], '<ul id="l"></ul>', post('#l', '<b>x</b>'), path)
        expect(verdict.startsWith('422')).to.equal(applies)
      })
    }
  })

  describe('MOD-92 which scopes are checked', () => {
    const nav = '<nav class="crumbs"><p id="p"><a href="#">x</a></p><i id="i">i</i></nav><div id="d">d</div>'
    const needsLink = [{ selector: 'nav.crumbs', constraint: ':has(a)' }]
    for (const [name, write, verdict] of [
      ['PUT of the scope itself', putting('nav', '<nav class="crumbs">x</nav>'), '422 :has(a)'],
      ['PUT inside the scope', putting('#p', '<p>x</p>'), '422 :has(a)'],
      ['PUT around the scope', putting('body', '<body><nav class="crumbs">x</nav></body>'), '422 :has(a)'],
      ['PUT beside it', putting('#d', '<div>x</div>'), '206'],
      ['PUT that brings a scope', putting('#d', '<div><nav class="crumbs"></nav></div>'), '422 :has(a)'],
      ['PUT that makes it no scope', putting('nav', '<nav>x</nav>'), '206'],
      ['POST that brings a scope', post('#d', '<nav class="crumbs"></nav>'), '422 :has(a)'],
      ['POST into the scope', post('#i', 'more'), '206'],
      ['DELETE inside the scope', removing('nav a'), '409 :has(a)'],
      ['DELETE of the scope', removing('nav'), '204'],
      ['DELETE beside it', removing('#d'), '204'],
      ['MOVE out of the scope', moving('nav a', '#d', 'append'), '422 :has(a)'],
      ['MOVE within the scope', moving('nav a', '#i', 'append'), '204'],
      ['whole PUT', ['PUT', {}, page('<nav class="crumbs">x</nav>')] as [string, Headers, string], '422 :has(a)'],
      ['whole PUT that meets it', ['PUT', {}, page(nav)] as [string, Headers, string], '200'],
      ['whole DELETE', ['DELETE', {}] as [string, Headers], '204'],
    ] as const) {
      it(`${name}: ${verdict}`, async () => expect(await judged(needsLink, nav, write)).to.equal(verdict))
    }

    it('other scopes are left alone, even broken ones', async () => {
      const broken = '<nav class="crumbs">old</nav><nav class="crumbs" id="n"><a>x</a></nav>'
      expect(await judged(needsLink, broken, post('#n', 'more'))).to.equal('206')
    })

    it('without a selector the root element is the scope', async () => {
      const shapes = [{ resource: '/p.html', constraint: ':has(h1)' }]
      expect(await judged(shapes, '<h1>x</h1><p>y</p>', removing('h1'))).to.equal('409 :has(h1)')
      expect(await judged(shapes, '<h1>x</h1><p>y</p>', removing('p'))).to.equal('204')
    })

    it('several selectors are alternatives', async () => {
      const shapes = [{ selector: ['#x', '#d'], constraint: ':empty' }]
      expect(await judged(shapes, '<p id="d"></p>', post('#d', 'x'))).to.equal('422 :empty')
    })

    it('a whole MOVE meets the shapes of its destination (MOD-110)', async () => {
      const shapes = [{ resource: '/closed/*', constraint: ':has(h1)' }]
      const move = (to: string): [string, Headers] => ['MOVE', { Destination: to }]
      expect(await judged(shapes, '<p>y</p>', move('/closed/q.html'))).to.equal('422 :has(h1)')
      expect(await judged(shapes, '<p>y</p>', move('/open/q.html'))).to.equal('204')
      expect(await judged(shapes, '<h1>y</h1>', move('/closed/q.html'))).to.equal('204')
    })

    it('XML documents have shapes, too', async () => {
      const shapes = [{ resource: '/p.xml', selector: 'list', permit: 'Item[n]' }]
      const list = '<r><list/></r>'
      expect(await judged(shapes, list, post('list', '<Item n="1"/>'), '/p.xml')).to.equal('206')
      expect(await judged(shapes, list, post('list', '<item n="1"/>'), '/p.xml')).to.equal('422 permit')
      expect(await judged(shapes, list, post('list', '<Item N="1"/>'), '/p.xml')).to.equal('422 permit')
    })
  })

  describe('MOD-93 when a constraint holds', () => {
    for (const [constraint, content, holds] of [
      ['ul', '', true],
      ['.l', '', true],
      ['ol', '', false],
      ['[itemprop=name]', '<li><b itemprop="name">x</b></li>', true],
      ['[itemprop=name]', '<li><b itemprop="other">x</b></li>', false],
      ['b', '<li><b>x</b></li>', true],
      ['#x', '<li id="x"></li>', true],
      ['.x', '<li class="x"></li>', true],
      [':has(b)', '<li><b>x</b></li>', true],
      [':has(> b)', '<li><b>x</b></li>', false],
      [':not(:has(script))', '<li></li>', true],
      [':not(:has(script))', '<li><script></script></li>', false],
      // What names nothing speaks of the scope element alone.
      [':empty', '<li></li>', false],
      ['*', '<li></li>', true],
      [':first-child', '<li></li>', false],
      [':scope > li', '<li></li>', true],
      [':scope > b', '<li><b></b></li>', false],
      ['li:only-child', '<li></li>', true],
      ['ol, li', '<li></li>', true],
      ['ol, :empty', '<li></li>', false],
      ['li > b, ul:has(i)', '<li><i></i></li>', true],
      ['li::before', '<li></li>', false],
      // Ancestors outside of the scope count.
      ['main li', '<li></li>', true],
    ] as const) {
      it(`${constraint} in ${content || 'an empty list'}: ${holds ? 'holds' : 'fails'}`, async () => {
        const body = '<main><hr><ul class="l" id="l"></ul></main>'
        const replaced = putting('#l', `<ul class="l" id="l">${content}</ul>`)
        expect(await judged([{ selector: '#l', constraint }], body, replaced)).to.equal(
          holds ? '206' : `422 ${constraint}`,
        )
      })
    }

    it('every failing constraint of every checked element is reported', async () => {
      const shapes = [
        { selector: 'ul', constraint: [':has(b)', 'ul', ':has(i)'] },
        { selector: '#x', constraint: 'p' },
      ]
      const body = '<div><ul></ul><ul id="x"></ul></div>'
      expect(await judged(shapes, '<div></div>', putting('div', body))).to.equal(
        '422 :has(b) | :has(i) | :has(b) | :has(i) | p',
      )
    })

    it('MOD-130, MOD-135 the answer', async () => {
      await judged([{ selector: 'nav.crumbs', constraint: ':has(a)' }], '<p>x</p>', post('p', 'x'))
      const received = await on.shelf.http('POST', '/p.html', selecting('p'), '<nav class="crumbs">x</nav>')
      expect(answerOf(received)).to.deep.equal({
        status: 422,
        type: 'ConstraintViolation',
        title: on.title('422 Unprocessable Entity', 'Shape Constraint Violation'),
        description: 'Shape constraints violated',
        violations: [
          {
            constraintSelector: 'nav.crumbs',
            failedConstraint: ':has(a)',
            message: "Element matching 'nav.crumbs' does not satisfy constraint ':has(a)'",
          },
        ],
      })
      await on.shelf.clear()
      await put(on.shelf.server, '/p.html', page('<p><a>x</a></p>'))
      await on.shelf.declare(shape({ selector: 'p', constraint: ':has(a)' }))
      const removed = answerOf(await on.shelf.http('DELETE', '/p.html', selecting('a')))
      expect(removed.title).to.equal(on.title('409 Conflict', 'Shape Constraint Violation'))
    })
  })

  describe('MOD-94, MOD-95 closed shapes', () => {
    for (const [permits, content, verdict] of [
      [['li'], '<li>x</li>', '206'],
      [['li'], '<li>x<!-- c --></li>', '206'],
      [['li'], 'text', '206'],
      [['li'], '<li><b>x</b></li>', '422 permit'],
      [['li', 'b'], '<li><b>x</b></li>', '206'],
      [['li', 'b'], '<li><b><i>x</i></b></li>', '422 permit'],
      [['*'], '<li><b>x</b></li>', '206'],
      [['*'], '<li lang="no">x</li>', '422 permit'],
      [['li'], '<li><template><b>x</b></template></li>', '422 permit | permit'],
      [['li', 'template', 'b'], '<li><template><b>x</b></template></li>', '206'],
      [['li', 'template'], '<li><template><b>x</b></template></li>', '422 permit'],
      [['li', 'template'], '<li><template><template><b>x</b></template></template></li>', '422 permit'],
      // Attributes
      [['li'], '<li onclick="x()">x</li>', '422 permit'],
      [['[lang]'], '<li lang="no">x</li>', '206'],
      [['[lang=no]'], '<li lang="no">x</li>', '206'],
      [['[lang=no]'], '<li lang="en">x</li>', '422 permit'],
      [['[LANG]'], '<li lang="no">x</li>', '206'],
      // The sign of Kelvin is no K of HTML
      [['li', '[data-kind]'], '<li data-kind="x" data-\u212aind="y">x</li>', '422 permit'],
      [['[lang]'], '<li lang="no" id="x">x</li>', '422 permit'],
      [['[lang]', '#x'], '<li lang="no" id="x">x</li>', '206'],
      [['.important'], '<li class="important other">x</li>', '206'],
      [['.important'], '<li class="other">x</li>', '422 permit'],
      [['[class="entry"]'], '<li class="entry other">x</li>', '422 permit'],
      [['#x'], '<li id="y">x</li>', '422 permit'],
      [['li:has([title])'], '<li title="t"><b title="t">x</b></li>', '422 permit | permit'],
      [['li:has(> b[title])', 'b[title]'], '<li><b title="t">x</b></li>', '206'],
      [['li:not([title])'], '<li title="t">x</li>', '422 permit'],
      [['li:is([title])'], '<li title="t">x</li>', '422 permit'],
      [['li:where(.x)'], '<li class="x">x</li>', '422 permit'],
      [['li:is([title])', '[title]'], '<li title="t">x</li>', '206'],
      [['ul > li[title]'], '<li title="t">x</li>', '206'],
      [['ol > li[title]'], '<li title="t">x</li>', '422 permit'],
      [['ul[title] > li'], '<li title="t">x</li>', '422 permit'],
      [['a[href], b[title]', 'li'], '<li><a href="#">x</a><b title="t">x</b></li>', '206'],
      [['a[href], b[title]', 'li'], '<li><a title="t" href="#">x</a></li>', '422 permit'],
      [['[href^="/"]', 'li'], '<li><a href="/x">x</a></li>', '206'],
      [['[href^="/"]', 'li'], '<li><a href="javascript:x()">x</a></li>', '422 permit'],
      [['li[lang]'], '<li xml:lang="no">x</li>', '422 permit'],
      [['[xml\\:lang]'], '<li xml:lang="no">x</li>', '206'],
      [['li:first-child[title]'], '<li title="t">x</li>', '206'],
      // Selectors that cannot be read (MOD-90)
      [['li', ':::'], '<li>x</li>', '206'],
      [[':::'], '<li>x</li>', '422 permit'],
      [['li::marker'], '<li>x</li>', '422 permit'],
      // Foreign content
      [['li', 'svg', 'a'], '<li><svg><a xlink:href="x"></a></svg></li>', '422 permit'],
    ] as const) {
      it(`${permits.join(' | ')} with ${content}: ${verdict}`, async () => {
        const shapes = [{ selector: '#l', permit: [...permits, '#l'] }]
        expect(await judged(shapes, '<ul id="l"></ul>', post('#l', content))).to.equal(verdict)
      })
    }

    it('MOD-94 content stored earlier counts: one old violation blocks until it is gone', async () => {
      const shapes = [{ selector: 'ul#l', permit: 'li' }]
      const body = '<ul id="l"><li>x</li><script>old</script></ul>'
      expect(await judged(shapes, body, post('#l', '<li>new</li>'))).to.equal('422 permit')
      expect(await judged(shapes, body, removing('script'))).to.equal('204')
      expect(verdictOf(await on.shelf.http('POST', '/p.html', selecting('#l'), '<li>new</li>'))).to.equal('206')
    })

    it('MOD-98 bad elements can be deleted one by one, but nothing may get worse', async () => {
      const body = '<ul id="l"><li>x</li><script>1</script><script>2</script><b></b></ul>'
      expect(await judged([{ selector: 'ul#l', permit: 'li' }], body, removing('script'))).to.equal('204')
      expect(await judged([{ selector: 'ul#l', permit: 'li' }], body, removing('li'))).to.equal('204')
      const first = [{ selector: 'ul#l', permit: ['li:not(:first-child)', 'hr'] }]
      expect(await judged(first, '<ul id="l"><hr><li>x</li></ul>', removing('hr'))).to.equal('409 permit')
    })

    it('MOD-94 messages say what an element of a permitted type lacks', async () => {
      const permit = ['li.entry[id]', 'li.entry.wide[id][title]', 'b#the-one', 'i:first-child']
      await judged([{ selector: 'ul#l', permit }], '<ul id="l"></ul>', post('#l', 'x'))
      const said = async (body: string) => {
        const answer = await on.shelf.http('POST', '/p.html', selecting('#l'), body)
        return answerOf(answer).violations[0]?.message
      }
      const place = "is not permitted inside 'ul#l'"
      expect(await said('<li>x</li>')).to.equal(`Element <li> ${place}; it needs class 'entry' and attribute 'id'`)
      expect(await said('<li class="entry">x</li>')).to.equal(`Element <li> ${place}; it needs attribute 'id'`)
      expect(await said('<b>x</b>')).to.equal(`Element <b> ${place}; it needs id 'the-one'`)
      expect(await said('<u>x</u>')).to.equal(`Element <u> ${place}`)
    })

    it('messages name the element, or the attribute and its element', async () => {
      await judged([{ selector: 'article', permit: 'h2' }], '<article></article>', post('article', 'x'))
      const write = (body: string) => on.shelf.http('POST', '/p.html', selecting('article'), body)
      const [attribute] = answerOf(await write('<h2 onclick="x()">x</h2>')).violations
      expect(attribute).to.deep.equal({
        constraintSelector: 'article',
        failedConstraint: 'permit',
        message: "Attribute 'onclick' on <h2> is not permitted inside 'article'",
      })
      const [element] = answerOf(await write('<script>x</script>')).violations
      expect(element?.message).to.equal("Element <script> is not permitted inside 'article'")
    })

    it('a shape may be open and closed at once', async () => {
      const shapes = [{ selector: 'ul#l', permit: ['li', 'b'], constraint: ':has(b)' }]
      expect(await judged(shapes, '<ul id="l"></ul>', post('#l', '<li>x</li>'))).to.equal('422 :has(b)')
      expect(await judged(shapes, '<ul id="l"></ul>', post('#l', '<li><b>x</b></li>'))).to.equal('206')
      expect(await judged(shapes, '<ul id="l"></ul>', post('#l', '<li><b><i>x</i></b></li>'))).to.equal('422 permit')
    })
  })

  describe('MOD-96 attributes of the root', () => {
    for (const [selector, permits, attributes, verdict] of [
      ['article', ['p'], '', '206'],
      ['article', ['p'], ' id="x"', '422 permit'],
      ['article#x', ['p'], ' id="x"', '206'],
      ['article', ['p', '#x'], ' id="x"', '206'],
      ['article[itemtype*=Note]', ['p'], ' itemtype="x:Note"', '206'],
      ['article[itemtype*=Note]', ['p'], ' itemscope itemtype="x:Note"', '422 permit'],
      ['article[itemtype*=Note][itemscope]', ['p'], ' itemscope itemtype="x:Note"', '206'],
      ['article, article.x', ['p'], ' class="x"', '206'],
      ['article, section.x', ['p'], ' class="x"', '422 permit'],
      [':is(article.x)', ['p'], ' class="x"', '422 permit'],
      ['main article', ['p'], '', '206'],
    ] as const) {
      it(`${selector} on <article${attributes}>: ${verdict}`, async () => {
        const body = `<main><article${attributes}></article></main>`
        expect(await judged([{ selector, permit: permits }], body, post('article', '<p>x</p>'))).to.equal(verdict)
      })
    }
  })

  describe('MOD-97 nested closed shapes', () => {
    const outer = { selector: '#out', permit: ['section', '#out'] }
    const inner = { selector: 'section', permit: ['b'] }
    const body = '<div id="out"><section></section></div>'
    it('below the inner scope the inner shape judges alone', async () => {
      expect(await judged([outer, inner], body, post('section', '<b>x</b>'))).to.equal('206')
      expect(await judged([outer, inner], body, post('section', '<i>x</i>'))).to.equal('422 permit')
      expect(await judged([outer], body, post('section', '<b>x</b>'))).to.equal('422 permit')
    })
    it('the inner scope element itself is judged by the outer shape', async () => {
      const strict = { selector: '#out', permit: ['#out'] }
      expect(await judged([strict, inner], body, post('section', '<b>x</b>'))).to.equal('422 permit')
      const placed = '<section lang="no"></section>'
      expect(await judged([outer, { ...inner, selector: 'section[lang]' }], body, putting('section', placed))).to.equal(
        '422 permit',
      )
    })
    it('the rest of the outer scope stays with the outer shape', async () => {
      expect(await judged([outer, inner], body, post('#out', '<b>x</b>'))).to.equal('422 permit')
    })
    it('two shapes on the same element both apply', async () => {
      const shapes = [
        { selector: '#out', permit: ['b', '#out'] },
        { selector: 'div[id]', permit: ['i', '#out'] },
      ]
      expect(await judged(shapes, '<div id="out"></div>', post('#out', '<b>x</b>'))).to.equal('422 permit')
      expect(await judged(shapes, '<div id="out"></div>', post('#out', 'x'))).to.equal('206')
    })
    it('open shapes never take over', async () => {
      expect(
        await judged([outer, { selector: 'section', constraint: 'section' }], body, post('section', '<b>x</b>')),
      ).to.equal('422 permit')
    })
    it('a shape that does not apply here does not take over', async () => {
      const elsewhere = { ...inner, resource: '/other.html' }
      expect(await judged([outer, elsewhere], body, post('section', '<b>x</b>'))).to.equal('422 permit')
    })
    it('scopes of the same shape inside each other are both judged', async () => {
      const own = { selector: 'div', permit: ['div[id]', 'b'] }
      expect(await judged([own], '<div id="a"><div id="b"></div></div>', post('#b', '<b>x</b>'))).to.equal('206')
      expect(await judged([own], '<div id="a"><div id="b"></div></div>', post('#b', '<i>x</i>'))).to.equal(
        '422 permit | permit',
      )
    })
  })

  describe('MOD-90 fields', () => {
    const closed = '<ul id="l"></ul>'
    it('neither constraint nor permit: ignored', async () => {
      expect(await judged([{ selector: '#l' }], closed, post('#l', '<b>x</b>'))).to.equal('206')
    })
    it('a blank field counts as absent', async () => {
      expect(await judged([{ selector: '#l', permit: ' ' }], closed, post('#l', '<b>x</b>'))).to.equal('206')
    })
    it('a selector that does not parse selects nothing', async () => {
      expect(await judged([{ selector: ':::', permit: 'p' }], closed, post('#l', '<b>x</b>'))).to.equal('206')
    })
    it('a constraint that does not parse is ignored, the others hold', async () => {
      expect(
        await judged([{ selector: '#l', constraint: ['a[', ':has(i)'] }], closed, post('#l', '<b>x</b>')),
      ).to.equal('422 :has(i)')
    })
    it('shapes are read from tables and lists of text as well', async () => {
      await on.shelf.clear()
      await put(on.shelf.server, '/p.html', page(closed))
      await on.shelf.declare(
        '<table><tr itemscope itemtype="https://platform.example/ns/ShapeConstraint"><td><code itemprop="resource"> /p.html </code></td><td><code itemprop="selector">ul#l</code></td><td><ul><li><code itemprop="permit">#l &gt; li</code></li></ul></td></tr></table>',
      )
      expect(verdictOf(await on.shelf.http('POST', '/p.html', selecting('#l'), '<b>x</b>'))).to.equal('422 permit')
      expect(verdictOf(await on.shelf.http('POST', '/p.html', selecting('#l'), '<li>x</li>'))).to.equal('206')
    })
  })

  it('section 16: the closed guest book', async () => {
    const book = {
      resource: '/guests/*',
      selector: 'ul#entries[class]',
      permit: ['li[class="entry"]', 'b[itemprop="who"]', 'p'],
    }
    const entry = (more: string, inside = '') =>
      post('#entries', `<li class="entry"${more}><b itemprop="who">Ida</b><p>Hei</p>${inside}</li>`)
    const body = '<ul id="entries" class="all"></ul>'
    expect(await judged([book], body, entry(''), '/guests/book.html')).to.equal('206')
    expect(await judged([book], body, entry(' onclick="x()"'), '/guests/book.html')).to.equal('422 permit')
    expect(await judged([book], body, entry('', '<script>x()</script>'), '/guests/book.html')).to.equal('422 permit')
  })

  it('COMP-147 elements are judged where pages show them: in one of a schema within a paragraph or a table', async () => {
    const shown = { name: 'shown', returns: ELEMENT, sessel: `self.\${div}.first()` }
    const shapes = [
      { selector: '.guarded', constraint: ':not(:has(.bad))' },
      { selector: '.guarded .l', constraint: ':has(b)' },
    ]
    await on.shelf.clear()
    await on.shelf.declare(...shapes.map(shape), methods('urn:t', [shown]))
    const item = '<div class="l"><b>x</b></div>'
    for (const name of ['div', 'p', 'table']) {
      const markup = `<${name} class="guarded" xmlns:t="urn:t"><t:shown>${item}</t:shown></${name}>`
      await put(on.shelf.server, '/p.html', composed(`<section>${markup}</section>`))
      const writes: [status: string, method: string, headers: Headers, body?: string][] = [
        ['422', ...putting('.guarded .l', '<div class="l bad"><b>x</b></div>')],
        ['422', ...post('.guarded .l', '<i class="bad">y</i>')],
        ['422', ...post('section', markup.replace('"l"', '"l bad"'))],
        ['422', ...putting('.guarded b', '<i>x</i>')],
        ['409', ...removing('.guarded b')],
        ['206', ...post('.guarded .l', '<i>y</i>')],
        ['206', ...putting('.guarded .l', '<div class="l"><b>z</b></div>')],
        ['206', ...putting('.guarded', markup.replace('x</b>', 'w</b>'))],
      ]
      for (const [status, method, headers, body] of writes)
        expect(verdictOf(await on.shelf.http(method, '/p.html', headers, body)), `${name} ${method} ${body}`).to.match(
          new RegExp(`^${status}`),
        )
    }
  })

  it('a shape that cannot be checked within limits refuses', async () => {
    const heavy = `:has(${'div '.repeat(20)}p.never)`
    const deep = '<div>'.repeat(300) + '</div>'.repeat(300)
    const shapes = [{ selector: 'main', constraint: `:not(${heavy})` }]
    const verdict = await judged(shapes, '<main></main>', post('main', deep.repeat(20)))
    expect(verdict).to.be.oneOf(['206', `422 :not(${heavy})`])
  })
})
