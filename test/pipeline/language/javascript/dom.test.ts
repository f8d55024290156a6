import { expect } from 'chai'
import fc from 'fast-check'
import { JSDOM } from 'jsdom'
import { INTERFACES } from '../../../../pipeline/language/javascript/worker/dom/interfaces.ts'
import { html, plain, run } from './programs.ts'

const { window } = new JSDOM('')
const NAMES = [
  'DOMParser',
  'XMLSerializer',
  'Node',
  'Element',
  'Document',
  'NodeList',
  'HTMLElement',
  'DOMException',
  'Text',
] as const
const given = NAMES.map(name => window[name])

/** Runs the body of a function in jsdom, with markup as its argument. */
function inJsdom(body: string, markup: string): unknown {
  return new Function(...NAMES, 'markup', body)(...given, markup)
}

/** Runs the same in a realm. */
async function inRealm(body: string, markup: string): Promise<unknown> {
  return plain(await run(`export default markup => {${body}\n}`, { arguments: [markup] }))
}

const BEGIN = `
  const document = new DOMParser().parseFromString(markup, 'text/html')
  const way = node => {
    if (node === null || node === undefined) return String(node)
    if (typeof node !== 'object') return typeof node + ':' + node
    if (typeof node.nodeType !== 'number') return node[Symbol.iterator] ? [...node].map(way).join() : 'object'
    if (node.nodeType === 9) return '/'
    if (node.nodeType === 2) return node.name + '=' + node.value
    let path = ''
    for (let at = node; at.parentNode; at = at.parentNode) path = '/' + [...at.parentNode.childNodes].indexOf(at) + path
    return path + '<' + node.nodeName + '>'
  }
  const tried = f => { try { return way(f()) } catch (e) { return e instanceof DOMException ? e.name + e.code : e instanceof TypeError ? 'TypeError' : 'Error' } }
  const all = []
  const visit = node => { all.push(node); for (const child of node.childNodes) visit(child) }
  visit(document)
`

/** Everything that JS-40 lists and that reads, of every node of a document. */
const READS = `${BEGIN}
  const members = 'nodeType nodeName parentNode parentElement firstChild lastChild previousSibling nextSibling childNodes textContent ownerDocument documentElement head body tagName localName prefix namespaceURI id className classList attributes innerHTML outerHTML children childElementCount firstElementChild lastElementChild nextElementSibling previousElementSibling data length nodeValue'.split(' ')
  const calls = {
    hasChildNodes: n => n.hasChildNodes(), getAttribute: n => n.getAttribute('ID'), names: n => n.getAttributeNames().join(), has: n => n.hasAttribute('class'),
    ns: n => n.getAttributeNS(null, 'class'), q: n => n.querySelector('b, i, .k'), qa: n => n.querySelectorAll('* > *'), byId: n => n.getElementById('a'),
    tags: n => n.getElementsByTagName('P'), every: n => n.getElementsByTagName('*'), classes: n => n.getElementsByClassName('k l'), tagsNS: n => n.getElementsByTagNameNS('*', 'b'),
    closest: n => n.closest('div, p'), matches: n => n.matches(':first-child, .k'), contains: n => n.contains(all[all.length - 1]), self: n => n.contains(n),
    item: n => n.childNodes.item(0), index: n => n.childNodes[1], html: n => n.constructor.name.replace('HTMLUnknownElement', 'HTMLElement').replace('MathMLElement', 'Element').replace('XMLDocument', 'Document'), tokens: n => [...n.classList].join(), contained: n => n.classList.contains('k'),
    value: n => n.classList.value, count: n => n.classList.length, first: n => n.classList.item(0), invalid: n => n.querySelector('['), type: n => n instanceof Node, element: n => n instanceof HTMLElement,
    clone: n => n.cloneNode(true).outerHTML ?? 'none', shallow: n => n.cloneNode().outerHTML ?? 'none', xml: n => n.nodeType === 1 && new XMLSerializer() ? 'x' : 'y', same: n => n.firstChild === n.childNodes[0] || !n.firstChild,
    collection: n => n.children.length, named: n => n.children.namedItem('a'), each: n => { let s = ''; n.childNodes.forEach((c, i) => { s += i + c.nodeName }); return s },
    list: n => n.childNodes instanceof NodeList,
  }
  const found = []
  for (const node of all) {
    for (const name of members) if (name !== 'className' || !/svg/.test(node.namespaceURI)) found.push(way(node) + '.' + name + ' ' + (name in node ? tried(() => node[name]) : 'absent'))
    for (const name in calls) found.push(way(node) + '.' + name + '() ' + tried(() => calls[name](node)))
  }
  return found.join('\\n')`

/** Changes, by numbers: which, on which node, with which other. */
const CHANGES = `${BEGIN}
  const steps = (markup.match(/<!--;([\\d,;]*)-->$/)?.[1] ?? '').split(';').map(s => s.split(',').map(Number))
  const make = [
    () => document.createElement('b'), () => document.createTextNode('t<&'), () => document.createComment('c'),
    () => { const f = document.createDocumentFragment(); f.append(document.createElement('u'), 'v'); return f },
    () => document.createElementNS('http://www.w3.org/2000/svg', 's:g'), () => document.importNode(document.body, true),
  ]
  const changes = [
    (n, o) => n.appendChild(o), (n, o) => n.insertBefore(o, n.firstChild), (n, o) => n.removeChild(o), (n, o) => n.replaceChild(o, n.firstChild),
    (n, o) => n.append(o, 'x'), (n, o) => n.prepend('x', o), (n, o) => n.before(o), (n, o) => n.after('x', o), (n, o) => n.replaceWith(o), (n, o) => n.replaceChildren(o),
    n => n.remove(), n => { n.textContent = 'x<y' }, n => { n.innerHTML = '<i>1<td>2' }, n => { if (n.parentNode) n.outerHTML = '<u>3</u>4' },
    n => n.insertAdjacentHTML('beforebegin', '<s>1'), n => n.insertAdjacentHTML('afterbegin', '<s>2'), n => n.insertAdjacentHTML('beforeend', '<tr>3'), n => n.insertAdjacentHTML('afterend', '<s>4'),
    n => n.setAttribute('CLASS', 'k  l k'), n => n.removeAttribute('class'), n => n.toggleAttribute('hidden'), n => n.toggleAttribute('q', true), n => n.setAttributeNS('http://www.w3.org/1999/xlink', 'x:href', '1'),
    n => n.setAttributeNS(null, 'x:y', '1'), n => n.setAttribute('1', 'x'), n => n.removeAttributeNS(null, 'class'), n => n.classList.add('m', 'k'), n => n.classList.remove('k'), n => n.classList.toggle('n'),
    n => n.classList.replace('k', 'o'), n => n.classList.add('a b'), n => n.classList.add(''), n => { n.id = 'i' }, n => { n.className = 'c d' }, n => { n.classList.value = 'v' }, n => { n.data = 'd' },
    (n, o) => n.insertBefore(o, all[1]), n => n.appendChild(n), n => n.appendChild(null), n => n.removeChild(n),
  ]
  const found = []
  for (const [what, at, other] of steps) {
    const node = all[at % all.length]
    const with_ = other % 3 ? all[other % all.length] : make[other % make.length]()
    found.push(what % changes.length + ':' + tried(() => changes[what % changes.length](node, with_)))
    found.push(document.documentElement ? document.documentElement.outerHTML : 'none')
  }
  return found.join('\\n')`

const text = fc.constantFrom('', 'x', ' y ', 'a&amp;b', '&lt;', '\n', '<!--c-->')
const attributes = fc.constantFrom(
  '',
  ' id=a',
  ' class="k l"',
  ' class=" k  k\tl "',
  ' id="" name=a',
  ' data-x="&quot;" class=k',
  ' t:x=1 ID=b',
)
const tag = fc.constantFrom(
  'p',
  'div',
  'b',
  'i',
  'span',
  'ul',
  'li',
  'table',
  'tr',
  'td',
  'a',
  'img',
  'br',
  'math',
  'h1',
  'section',
  'template',
  'pre',
  'textarea',
  'fieldset',
  'option',
  'foo',
  't:card',
  'my-el',
)
const { markup } = fc.letrec<{ markup: string; node: string }>(tie => ({
  node: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.tuple(tag, attributes, tie('markup')).map(([name, attrs, inner]) => `<${name}${attrs}>${inner}</${name}>`),
  ),
  markup: fc.array(tie('node'), { maxLength: 4 }).map(nodes => nodes.join('')),
}))

describe('language: JavaScript: the DOM', () => {
  it('JS-40 every member reads as in jsdom', async () => {
    await fc.assert(
      fc.asyncProperty(markup, async source => {
        const [expected, found] = [inJsdom(READS, source), await inRealm(READS, source)]
        same(found, expected)
      }),
      { numRuns: 40, seed: 7 },
    )
  })

  it('JS-40, JS-41 every change does what it does in jsdom', async () => {
    const steps = fc.array(fc.tuple(fc.nat(400), fc.nat(50), fc.nat(50)), { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(markup, steps, async (source, list) => {
        const whole = `${source}<!--;${list.map(step => step.join()).join(';')}-->`
        const [expected, found] = [inJsdom(CHANGES, whole), await inRealm(CHANGES, whole)]
        same(found, expected)
      }),
      { numRuns: 60, seed: 11 },
    )
  })

  it('JS-42 reflected properties read and write as in jsdom', async () => {
    const body = `
      const document = new DOMParser().parseFromString('<p>', 'text/html')
      const found = []
      for (const [tag, property, attribute] of JSON.parse(markup)) {
        const node = document.createElement(tag)
        const note = () => found.push([tag, property, node.getAttribute(attribute), typeof node[property], String(node[property])].join('|'))
        if (!(property in node)) { found.push(tag + '|' + property + '|absent'); continue }
        note()
        for (const value of ['x', '5', '-3', ' 7 ', '', '99999', 'POST', 'Checkbox']) { node.setAttribute(attribute, value); note() }
        for (const value of [true, false, '12', 'a b']) { try { node[property] = value } catch (e) { found.push(e.name) } note() }
      }
      return found.join('\\n')`
    // Where the standard has more than an attribute behind a property, or the specification wants something else.
    const except =
      /^(a|area|link|base|img|audio|video|script|iframe|embed|source|track|input|frame)\|(href|src)$|^(form)\|action$|^(blockquote|q|ins|del)\|cite$|^(input|option)\|(value|checked|selected|type|label)$|\|(width|height)$|^option\|label$|^dialog\|open$|^details\|name$|^meta\|charset$|^button\|type$|^script\|async$|\|disabled$|^(td|th|table|hr|col|colgroup|iframe|object|embed)\|/
    const tags: Record<string, string> = {}
    for (const { name } of INTERFACES) {
      const found = Object.entries(TAGS).find(([, tag]) => document(tag) === name)
      if (found) tags[name] = found[1]
    }
    const cases = INTERFACES.flatMap(({ name, properties }) =>
      Object.entries(properties).flatMap(([property, [attribute]]) => {
        const tag = tags[name] ?? (name === 'HTMLElement' ? 'section' : undefined)
        return tag === undefined || except.test(`${tag}|${property}`) ? [] : [[tag, property, attribute]]
      }),
    )
    expect(cases.length).to.be.above(40)
    const source = JSON.stringify(cases)
    const [expected, found] = [
      String(inJsdom(body, source)).split('\n'),
      String(await inRealm(body, source)).split('\n'),
    ]
    const lacking = new Set(expected.filter(line => line.endsWith('|absent')).map(line => line.slice(0, -7)))
    const compared = (line: string) => ![...lacking].some(each => line.startsWith(each))
    same(found.filter(compared).join('\n'), expected.filter(compared).join('\n'))
  })

  it('JS-42 names of HTML have letters of ASCII alone in both cases', async () => {
    const body = `() => {
      const document = new DOMParser().parseFromString('', 'text/html')
      const [p, other] = [document.createElement('p'), document.createElement('l\u0131n\u212a')]
      p.setAttribute('data-\u212aind', 'x')
      return [p.getAttribute('data-kind'), p.getAttribute('DATA-\u212aIND'), other.tagName, other.localName]
    }`
    expect(plain(await run(`export default ${body}`))).to.deep.equal([null, 'x', 'L\u0131N\u212a', 'l\u0131n\u212a'])
  })

  it('JS-42 addresses and values reflect the attribute as it is written', async () => {
    const body = `() => {
      const of = markup => new DOMParser().parseFromString(markup, 'text/html').body.firstChild
      return [of('<a href="../x y">').href, of('<img src="a.png">').src, of('<a>').href, of('<form action="?q">').action, of('<input value=v>').value, of('<input>').value,
        of('<input type=checkbox checked>').checked, of('<img>').href, of('<p>x').firstChild.tagName, of('<blockquote cite="#c">').cite]
    }`
    expect(plain(await run(`export default ${body}`))).to.deep.equal([
      '../x y',
      'a.png',
      '',
      '?q',
      'v',
      '',
      true,
      null,
      null,
      '#c',
    ])
  })

  it('JS-42 XML is parsed as XML, and what is none gives a parsererror', async () => {
    const body = `() => {
      const parse = text => new DOMParser().parseFromString(text, 'application/xml')
      const good = parse('<A xmlns:p="urn:p"><p:b p:c="1"/></A>')
      const b = good.documentElement.firstChild
      return [good.documentElement.tagName, b.tagName, b.prefix, b.localName, b.namespaceURI, b.getAttributeNS('urn:p', 'c'), parse('<a>').documentElement.localName,
        new XMLSerializer().serializeToString(good)]
    }`
    expect(plain(await run(`export default ${body}`))).to.deep.equal([
      'A',
      'p:b',
      'p',
      'b',
      'urn:p',
      '1',
      'parsererror',
      '<A xmlns:p="urn:p"><p:b p:c="1"/></A>',
    ])
  })

  it('JS-42 errors have the names and codes of the standard', async () => {
    const body = `() => [
      () => document.querySelector('['), () => document.createElement('<'), () => { const a = document.createElement('a'); a.append(a) },
      () => document.createElement('a').removeChild(document.createElement('b')), () => document.createElementNS(null, 'a:b'), () => document.body.remove(),
    ].map(f => { try { f() } catch (e) { return [e.name, e.code, e instanceof DOMException, e instanceof Error, e.message !== ''].join() } })`
    expect(plain(await run(`export default ${body}`, { document: { document: html('<p>') } }))).to.deep.equal([
      'SyntaxError,12,true,true,true',
      'InvalidCharacterError,5,true,true,true',
      'HierarchyRequestError,3,true,true,true',
      'NotFoundError,8,true,true,true',
      'NamespaceError,14,true,true,true',
      'NoModificationAllowedError,7,true,true,true',
    ])
  })

  it('JS-13 the document is scoped to the host', async () => {
    const document_ = html('<main id="m"><p id="a">x<b>y</b></p><b>z</b></main>')
    const scope = document_.root.childNodes.find(node => 'tagName' in node)
    const main = scope && 'childNodes' in scope ? scope : undefined
    const p = find(main, 'a')
    if (!p) throw new Error('no element')
    const body = `function () { return [document.documentElement === this, document.querySelectorAll('b').length, document.getElementById('m'), this.parentNode === document,
      this.parentElement, this.nextSibling, this.matches('main p'), this.closest('main'), document.querySelector('p') === this, this.ownerDocument === document] }`
    const { ElementValue } = await import('../../../../pipeline/language/values.ts')
    const outcome = await run(`export default ${body}`, {
      this: new ElementValue(p),
      document: { document: document_, scope: p },
    })
    expect(plain(outcome)).to.deep.equal([true, 1n, null, true, null, null, false, null, true, true])
  })

  it('JS-18 in `default` the document is writable, and its changes are told', async () => {
    const document_ = html('<p id="a">x</p>')
    const p = find(document_.root, 'a')
    const source =
      'export default function () { document.documentElement.setAttribute("x", "1"); document.documentElement.append("y"); return "v" }'
    const outcome = await run(source, { place: 'default', document: { document: document_, scope: p } })
    const { outerMarkup } = await import('../../../../pipeline/tree/serialize.ts')
    expect('changed' in outcome && outcome.changed && outerMarkup(outcome.changed, 'html')).to.equal(
      '<p id="a" x="1">xy</p>',
    )
    expect(outerMarkup(document_.root, 'html')).to.equal('<html><head></head><body><p id="a">x</p></body></html>')
  })
})

/** The lines that differ, not hundreds that do not. */
function same(found: unknown, expected: unknown): void {
  const [ours, theirs] = [String(found).split('\n'), String(expected).split('\n')]
  const at = ours.findIndex((line, i) => line !== theirs[i])
  const around = (lines: string[]) => lines.slice(Math.max(0, at - 2), at + 3).join('\n')
  if (at >= 0) expect.fail(`here\n${around(ours)}\nin jsdom\n${around(theirs)}`)
  expect(ours).to.have.length(theirs.length)
}

const TAGS: Record<string, string> = Object.fromEntries(
  'a area audio base body br button canvas data datalist details dialog del div dl embed fieldset font form frame frameset h1 head hr html iframe img input label legend li link map menu meta meter object ol optgroup option output p param picture pre progress q script select slot source span style table caption td col tr tbody template textarea time title track ul video'
    .split(' ')
    .map(tag => [tag, tag]),
)

function document(tag: string): string {
  return window.document.createElement(tag).constructor.name
}

function find(node: unknown, id: string): import('../../../../pipeline/tree/nodes.ts').ElementNode | undefined {
  const at = node as import('../../../../pipeline/tree/nodes.ts').ElementNode
  if (at.attrs?.some(a => a.name === 'id' && a.value === id)) return at
  for (const child of at.childNodes ?? []) {
    const found = find(child, id)
    if (found) return found
  }
  return undefined
}
