import { expect } from 'chai'
import { describe, it } from 'mocha'
import { compiled } from '../../../../pipeline/compiled.ts'
import { parseDocument } from '../../../../pipeline/tree/document.ts'
import { attribute, type ElementNode, isText, type TreeDocument } from '../../../../pipeline/tree/nodes.ts'
import { LIMITS } from '../../../../pipeline/tree/selector/parse.ts'
import {
  compileSelector,
  type Extension,
  type Extensions,
  matches,
  SelectorError,
  selectAll,
  selectFirst,
  selectorFor,
  tokenize,
} from '../../../../pipeline/tree/selector/selector.ts'

const PAGE =
  '<!DOCTYPE html><body><ul id=u><li id=a>1<li id=b class=x>2</ul><h2 id=h></h2><h1 id=i></h1><p id=p>3</p></body>'

const page = (): TreeDocument => parseDocument('html', PAGE)
const idOf = (element: ElementNode | undefined) => element && attribute(element, 'id')
const ids = (elements: ElementNode[]) => elements.map(idOf).join(' ')

function get(document: TreeDocument, id: string): ElementNode {
  const element = selectFirst(compileSelector(`#${id}`), document)
  if (!element) throw new Error(`no #${id}`)
  return element
}

function faultOf(use: () => unknown): string {
  try {
    use()
  } catch (error) {
    if (error instanceof SelectorError) return error.fault
    throw error
  }
  return 'none'
}

describe('Selectors', () => {
  it('HTTP-48 takes the first match in document order, whatever the order of the list', () => {
    expect(idOf(selectFirst(compileSelector('h1, h2'), page()))).to.equal('h')
    expect(ids(selectAll(compileSelector('p, h1, h2'), page()))).to.equal('h i p')
    expect(selectFirst(compileSelector('table'), page())).to.equal(undefined)
  })

  it('HTTP-48 finds in a long list what each of its selectors finds', () => {
    const nothing = Array.from({ length: 10 }, (_, at) => `.none${at} p`).join(', ')
    for (const text of [
      'ul + h2',
      '#u > *',
      '#a + *',
      'body > #u > .x',
      '#a + li, #h ~ *',
      'ul ~ h1 + *',
      '#u + * ~ p',
    ]) {
      expect(ids(selectAll(compileSelector(`${nothing}, ${text}`), page())), text).to.equal(
        ids(selectAll(compileSelector(text), page())),
      )
    }
    const nested = parseDocument('html', '<!DOCTYPE html><i class=s></i><b><u id=t></u></b>')
    expect(ids(selectAll(compileSelector(`${nothing}, .s + b > *`), nested))).to.equal('t')
  })

  it('KEY-1 asks about one element in its own document', () => {
    const document = page()
    const item = get(document, 'b')
    expect(matches(compileSelector('#u li'), item, document)).to.equal(true)
    expect(matches(compileSelector('#u'), item, document)).to.equal(false)
    expect(matches(compileSelector('li:last-child:not(p), p'), item, document)).to.equal(true)
    expect(matches(compileSelector(':scope'), item, document)).to.equal(false)
    expect(matches(compileSelector(':scope > .x'), item, document, get(document, 'u'))).to.equal(true)
  })

  it('looks below an element, which is :scope, but sees the whole tree', () => {
    const document = page()
    const list = get(document, 'u')
    expect(ids(selectAll(compileSelector('li'), document, list))).to.equal('a b')
    expect(ids(selectAll(compileSelector('body li, ul, p'), document, list))).to.equal('a b')
    expect(ids(selectAll(compileSelector(':scope > .x'), document, list))).to.equal('b')
    expect(ids(selectAll(compileSelector(':scope'), document, list))).to.equal('')
  })

  it('takes relative selectors where they are asked for', () => {
    const document = page()
    const within = (text: string) =>
      ids(selectAll(compileSelector(text, { relative: true }), document, get(document, 'u')))
    expect(within('> .x')).to.equal('b')
    expect(within('li, p')).to.equal('a b')
    expect(within('> ul')).to.equal('')
    expect(
      matches(compileSelector('~ p', { relative: true }), get(document, 'p'), document, get(document, 'u')),
    ).to.equal(true)
    expect(faultOf(() => compileSelector('> > p', { relative: true }))).to.equal('syntax')
  })

  it('leaves the content of templates alone, but answers inside of it', () => {
    const document = parseDocument('html', '<!DOCTYPE html><template id=t><p id=a></p><p id=b></p></template>')
    const template = get(document, 't')
    expect(selectAll(compileSelector('p'), document)).to.deep.equal([])
    expect(ids(selectAll(compileSelector('p:last-child'), document, template.content))).to.equal('b')
    expect(ids(selectAll(compileSelector(':root, :scope, body p'), document, template.content))).to.equal('')
  })

  it('answers for an element that stands nowhere', () => {
    const document = page()
    const item = get(document, 'b')
    item.parentNode = null
    expect(
      matches(compileSelector('.x:first-child:last-child:only-of-type:nth-child(1 of li)'), item, document),
    ).to.equal(true)
    expect(matches(compileSelector('ul .x, li + .x, li ~ .x, :root, :has(+ *), :has(~ *)'), item, document)).to.equal(
      false,
    )
  })

  it('sees changes of the tree at once', () => {
    const document = page()
    const selector = compileSelector('li:nth-child(2), li ~ li, ul:has(.x)')
    expect(ids(selectAll(selector, document))).to.equal('u b')
    get(document, 'u').childNodes.pop()
    expect(ids(selectAll(selector, document))).to.equal('')
  })

  it('compiles a selector that comes again only once, and forgets old ones', () => {
    // A server that was started in this process has set a limit of its own.
    compiled.limit(8 * 1024 * 1024)
    const first = selectorFor('li.once')
    expect(selectorFor('li.once')).to.equal(first)
    for (let at = 0; at < 500; at++) selectorFor(`.c${at}`)
    expect(selectorFor('li.once')).to.equal(first)
    compiled.shrink(100_000)
    expect(compiled.bytes).to.be.at.most(100_000)
    for (let at = 0; at < 200; at++) selectorFor(`.c${at}`)
    compiled.shrink(100_000)
    expect(selectorFor('li.once')).to.not.equal(first)
    const again = selectorFor('li.once')
    for (let at = 0; at < 30; at++) selectorFor(`.${'x'.repeat(8_000)}${at}`)
    expect(selectorFor('li.once'), 'long ones').to.not.equal(again)
    expect(faultOf(() => selectorFor('li..once'))).to.equal('syntax')
  })

  it('bounds length, parts, conditions and depth', () => {
    expect(faultOf(() => compileSelector('p'.repeat(LIMITS.length)))).to.equal('none')
    expect(faultOf(() => compileSelector('p'.repeat(LIMITS.length + 1)))).to.equal('size')
    expect(faultOf(() => compileSelector(`p${' p'.repeat(LIMITS.compounds - 1)}`))).to.equal('none')
    expect(faultOf(() => compileSelector(`p${' p'.repeat(LIMITS.compounds)}`))).to.equal('size')
    expect(faultOf(() => compileSelector(`p${'.a'.repeat(LIMITS.simples)}`))).to.equal('size')
    expect(faultOf(() => compileSelector(`${':is('.repeat(LIMITS.depth)}p`))).to.equal('none')
    expect(faultOf(() => compileSelector(`${':is('.repeat(LIMITS.depth + 1)}p`))).to.equal('size')
    expect(faultOf(() => compileSelector(`${'('.repeat(8_000)}`))).to.equal('syntax')
  })

  it('says in its messages what is wrong, briefly', () => {
    const message = (text: string) => {
      try {
        compileSelector(text)
      } catch (error) {
        return error instanceof Error ? error.message : ''
      }
      return ''
    }
    expect(message('p..x')).to.equal('unexpected “.” in a selector')
    expect(message('x|p')).to.equal('namespace prefix “x” is not declared')
    expect(message(':frob(1)')).to.equal('“:frob()” is not known')
    expect(message('p >')).to.contain('ends too early')
    expect(message(`:${'x'.repeat(8_000)}`).length).to.be.lessThan(100)
  })
})

describe('COMP-134 Room for functional pseudo-classes of our own', () => {
  /** `:starts("text")`: the element's first text starts so. */
  const starts: Extension = {
    compile(argument) {
      const [token, ...others] = tokenize(argument).tokens.filter(({ type }) => type !== 'space')
      if (token?.type !== 'string' || others.length > 0) throw new SelectorError(':starts() takes one string')
      return (element, context) => {
        context.spend(1)
        const [first] = element.childNodes
        return first !== undefined && isText(first) && first.value.startsWith(token.value)
      }
    },
  }
  const extensions: Extensions = new Map([['starts', starts]])
  const find = (text: string) => ids(selectAll(compileSelector(text, { extensions }), page()))

  it('tests elements', () => {
    expect(find('li:starts("2")')).to.equal('b')
    expect(find(`:STARTS( '3' )`)).to.equal('p')
    expect(find('ul:has(:starts("2")) ~ :not(:starts("3"))')).to.equal('h i')
    expect(find('p:starts("3"')).to.equal('p')
  })

  it('hands over the argument as written, brackets and commas included', () => {
    const seen: string[] = []
    const see: Extension = {
      compile(argument) {
        seen.push(argument)
        return () => true
      },
    }
    compileSelector(`p:see( a(b, ")") , /* c */ "x\\"," )`, { extensions: new Map([['see', see]]) })
    compileSelector('p:see()', { extensions: new Map([['see', see]]) })
    expect(seen).to.deep.equal([` a(b, ")") , /* c */ "x\\"," `, ''])
  })

  it('refuses bad arguments, forgives them where CSS forgives, and knows no extension that is not given', () => {
    expect(faultOf(() => compileSelector(':starts(x)', { extensions }))).to.equal('syntax')
    expect(find(':is(:starts(x), h1)')).to.equal('i')
    expect(faultOf(() => compileSelector(':starts("2")'))).to.equal('syntax')
    expect(faultOf(() => compileSelector(':starts', { extensions }))).to.equal('syntax')
    expect(selectorFor('p:starts("3")', extensions)).to.equal(selectorFor('p:starts("3")', extensions))
    expect(faultOf(() => selectorFor('p:starts("3")'))).to.equal('syntax')
  })

  it('ends a query in which an extension does too much', () => {
    const busy: Extension = {
      compile: () => (_, context) => {
        context.spend(100_000)
        return true
      },
    }
    const selector = compileSelector('*:busy()', { extensions: new Map([['busy', busy]]) })
    expect(faultOf(() => matches(selector, get(page(), 'p'), page()))).to.equal('none')
    const long = parseDocument('html', '<p>'.repeat(50))
    expect(faultOf(() => selectAll(selector, long))).to.equal('cost')
  })
})
