/** Random documents in three grades, fragments and edits, all from one seed. */

import type { Edit, Placement } from '../../../../pipeline/tree/edit/edit.ts'
import { type DocumentKind, type ElementNode, isElement, type TreeDocument } from '../../../../pipeline/tree/nodes.ts'
import { elementsOf } from '../samples.ts'
import type { Random } from './random.ts'
import { ANY, ATTRIBUTES, BLOCK, PHRASING, TEXT, VOID, WILD, XML_ATTRIBUTES, XML_TEXT } from './vocabulary.ts'

/** Well nested with all tags; end tags and shell left out where HTML allows; any elements, well nested; anything. */
export type Grade = 'tidy' | 'implied' | 'wild' | 'soup'

export const GRADES: Grade[] = ['tidy', 'implied', 'wild', 'soup']

/** One generator of markup. */
export class Writer {
  readonly random: Random
  readonly grade: Grade

  constructor(random: Random, grade: Grade) {
    this.random = random
    this.grade = grade
  }

  below(count: number): number {
    return Math.floor(this.random() * count)
  }

  chance(share: number): boolean {
    return this.random() < share
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }

  text(): string {
    let text = ''
    for (let i = this.below(3); i >= 0; i--) text += this.pick(TEXT)
    return this.grade === 'soup' ? text : text.replaceAll('<', '')
  }

  gap(): string {
    return this.pick(['', '', '\n', '\n  ', ' ', '\r\n'])
  }

  element(name: string, content: string, optionalEnd = false): string {
    const tag = this.chance(0.1) ? name.toUpperCase() : name
    const end =
      optionalEnd && this.grade !== 'tidy' && this.chance(0.6) ? '' : `</${tag}${this.chance(0.05) ? ' ' : ''}>`
    return `<${tag}${this.pick(ATTRIBUTES)}>${content}${end}`
  }

  many(most: number, part: () => string): string {
    let text = ''
    for (let i = this.below(most + 1); i > 0; i--) text += part()
    return text
  }

  comment(): string {
    return this.pick(['<!---->', '<!-- c -->', '<!--a>b-->', '<!--😀-->', this.grade === 'soup' ? '<?pi>' : '<!-- -->'])
  }

  /** Content of a paragraph. */
  phrasing(depth: number): string {
    return this.many(4, () => {
      const kind = this.below(12)
      if (kind < 5 || depth <= 0) return this.text()
      if (kind === 5) return this.pick(['<br>', '<img alt="">', '<input type=text>', '<br/>', '<wbr>'])
      if (kind === 6) return this.comment()
      if (kind === 7) return this.svg(depth - 1)
      if (kind === 8) return this.raw()
      if (kind === 9) return this.select()
      if (kind === 10 && this.chance(0.3))
        return this.element(
          'ruby',
          this.many(2, () => `${this.text()}${this.element('rt', this.text(), true)}`),
        )
      return this.element(this.pick(PHRASING), this.phrasing(depth - 1))
    })
  }

  raw(): string {
    return this.pick([
      '<script>if (a<b) "<!--" </script>',
      '<style>a > b {}</style>',
      '<textarea>\n\n a <b> </textarea>',
      '<textarea></textarea>',
      '<textarea>\r\nx&amp;</textarea>',
      '<script></script>',
      '<iframe><p></iframe>',
      '<noscript><b></noscript>',
      '<xmp><a></xmp>',
    ])
  }

  select(): string {
    const option = (): string => this.element('option', this.text(), true)
    return this.element(
      'select',
      this.many(3, () => (this.chance(0.2) ? this.element('optgroup', this.many(2, option), true) : option())),
    )
  }

  svg(depth: number): string {
    const shape = (): string => {
      const kind = this.below(6)
      if (kind === 0) return '<path d="M0 0"/>'
      if (kind === 1) return '<g/>'
      if (kind === 2 && depth > 0) return `<foreignObject>${this.flow(depth - 1)}</foreignObject>`
      if (kind === 3) return '<![CDATA[a<b]]>'
      if (kind === 4) return '<title>t</title>'
      return `<g fill="red">${depth > 0 ? this.many(2, shape) : ''}</g>`
    }
    if (this.chance(0.2)) return `<math><mi>x</mi><mo/>${this.text()}</math>`
    return `<svg viewBox="0 0 1 1">${this.many(3, shape)}</svg>`
  }

  table(depth: number): string {
    const cell = (): string => this.gap() + this.element(this.pick(['td', 'td', 'th']), this.flow(depth - 1), true)
    const row = (): string => this.gap() + this.element('tr', this.many(3, cell) + this.gap(), true)
    const body = (): string =>
      this.gap() + this.element(this.pick(['tbody', 'tbody', 'thead', 'tfoot']), this.many(3, row) + this.gap(), true)
    let content = this.gap()
    if (this.chance(0.2)) content += this.element('caption', this.phrasing(1))
    if (this.chance(0.2))
      content += this.element(
        'colgroup',
        this.many(2, () => '<col>'),
        true,
      )
    content += this.chance(0.5) && this.grade !== 'tidy' ? this.many(3, row) : this.many(2, body)
    return this.element('table', content + this.gap())
  }

  /** Content of a body. */
  flow(depth: number): string {
    return this.many(4, () => {
      if (depth <= 0) return this.text()
      const kind = this.below(20)
      if (kind < 4) return this.gap() + this.phrasing(depth - 1)
      if (kind < 7) return this.gap() + this.element('p', this.phrasing(depth - 1), true)
      if (kind < 9) {
        const item = (): string => this.gap() + this.element('li', this.flow(depth - 1), true)
        return this.gap() + this.element(this.pick(['ul', 'ol']), this.many(3, item) + this.gap())
      }
      if (kind === 9) {
        const part = (): string => this.gap() + this.element(this.pick(['dt', 'dd']), this.flow(depth - 1), true)
        return this.element('dl', this.many(3, part))
      }
      if (kind < 12) return this.table(depth)
      if (kind === 12) return this.element('pre', this.pick(['', '\n', '\n\n', '\r\n', ' ']) + this.phrasing(depth - 1))
      if (kind === 13)
        return this.element(
          'template',
          this.chance(0.3) ? this.many(2, () => this.element('tr', '<td>x</td>')) : this.flow(depth - 1),
        )
      if (kind === 14) return this.comment()
      if (kind === 15) return this.element('form', this.phrasing(depth - 1))
      if (kind === 16) return this.raw()
      if (kind === 17) return this.element(this.pick(['h1', 'h2']), this.phrasing(depth - 1))
      return (
        this.gap() +
        this.element(this.pick(['div', 'section', 'blockquote', 'article', 'fieldset', 'center']), this.flow(depth - 1))
      )
    })
  }

  /** Any elements in each other, with their end tags. */
  wild(depth: number): string {
    return this.many(3, () => {
      if (depth <= 0 || this.chance(0.25)) return this.chance(0.2) ? this.comment() : this.text()
      const name = this.pick(this.chance(0.5) ? WILD : ANY)
      if (VOID.has(name)) return `<${name}${this.pick(ATTRIBUTES)}>`
      const self = this.chance(0.05) ? '/' : ''
      return `<${name}${this.pick(ATTRIBUTES)}${self}>${this.wild(depth - 1)}${this.chance(0.95) ? `</${name}>` : ''}`
    })
  }

  /** Tags in any order. */
  soup(length: number): string {
    let text = ''
    for (let i = this.below(length); i > 0; i--) {
      const kind = this.below(20)
      const name = this.pick(this.chance(0.6) ? [...PHRASING, ...BLOCK, 'li', 'td', 'tr'] : ANY)
      if (kind < 8) text += `<${name}${this.pick(ATTRIBUTES)}${this.chance(0.05) ? '/' : ''}>`
      else if (kind < 13) text += `</${name}>`
      else if (kind === 13) text += this.comment()
      else if (kind === 14) text += this.flow(2)
      else if (kind === 15)
        text += this.pick(['</body>', '</html>', '<!doctype html>', '<!--', '<![CDATA[x]]>', '</br>', '</p>', '<'])
      else text += this.text()
    }
    return text
  }

  document(): string {
    if (this.grade === 'wild') return `<!DOCTYPE html><html><head></head><body>${this.wild(5)}</body></html>`
    if (this.grade === 'soup') {
      const body = this.chance(0.5) ? this.soup(30) : this.flow(3) + this.soup(8) + this.flow(2)
      return this.chance(0.5) ? body : `<!doctype html><html><head><title>t</title></head><body>${body}</body></html>\n`
    }
    const bare = this.grade === 'implied'
    const leave = (): boolean => bare && this.chance(0.4)
    const doctype = this.chance(0.8) ? '<!DOCTYPE html>' : ''
    const head =
      this.gap() +
      this.many(3, () =>
        this.pick([
          '<title>t</title>',
          '<meta charset=utf-8>',
          '<link rel=x>',
          '<style>a</style>',
          '\n',
          '<!--h-->',
          '<template><p>x</p></template>',
        ]),
      )
    let text = doctype + this.gap()
    if (!leave()) text += `<html${this.pick(ATTRIBUTES)}>${this.gap()}`
    text += leave() ? head : `<head>${head}${leave() ? '' : '</head>'}`
    text += this.gap()
    if (!leave()) text += `<body${this.pick(ATTRIBUTES)}>`
    text += this.flow(4) + this.gap()
    if (!leave()) text += `</body>${this.gap()}${this.chance(0.3) ? '<!-- end -->' : ''}${this.gap()}`
    if (!leave()) text += `</html>${this.gap()}`
    if (this.chance(0.2)) text += this.comment() + this.gap()
    return text
  }

  /** Well-formed XML content; the prefix `p` is declared at the root. */
  xml(depth: number): string {
    return this.many(4, () => {
      const kind = this.below(10)
      if (kind < 4 || depth <= 0) return this.xmlText()
      if (kind === 4) return this.pick(['<!-- c -->', '<!---->', '<?pi data?>', '<?pi?>'])
      const name = this.pick(['a', 'b', 'p:a', 'card', 'Card', 'html', 'p:q'])
      const tag = `<${name}${this.pick(XML_ATTRIBUTES)}`
      const content = this.xml(depth - 1)
      if (content === '' && this.chance(0.7)) return `${tag}${this.pick(['/>', ' />'])}`
      return `${tag}>${content}</${name}${this.chance(0.1) ? ' ' : ''}>`
    })
  }

  xmlText(): string {
    let text = ''
    for (let i = this.below(3); i >= 0; i--) text += this.pick(XML_TEXT)
    return text
  }

  xmlDocument(): string {
    const around = (): string => this.gap() + this.pick(['', '', '<!-- x -->', '<?pi x?>']) + this.gap()
    const declaration = this.pick([
      '',
      '<?xml version="1.0"?>',
      '<?xml version="1.0" encoding="utf-8"?>\r\n',
      '<!DOCTYPE root>',
    ])
    const content = this.xml(4)
    const root =
      content === '' ? '<root/>' : `<root xmlns:p="urn:p"${this.pick(['', ' xmlns="urn:r"'])}>${content}</root>`
    return declaration + (declaration === '' ? around().trimStart() : around()) + root + around()
  }

  /** Markup for a place: mostly what fits there. */
  fragment(kind: DocumentKind, parent: ElementNode | undefined): string {
    if (kind === 'xml') return this.pick(['', '', '<?xml version="1.0"?>', '</a>', '>', '\n', 'x']) + this.xml(2)
    if (this.chance(0.1)) return this.soup(6)
    if (this.grade === 'wild' && this.chance(0.6)) return this.wild(3)
    if (this.chance(0.15)) return this.text()
    const row = (): string =>
      this.element(
        'tr',
        this.many(2, () => this.element('td', this.text(), true)),
        true,
      )
    switch (parent?.tagName) {
      case 'table':
      case 'tbody':
      case 'thead':
      case 'tfoot':
        return this.gap() + row() + this.gap()
      case 'tr':
        return this.element('td', this.flow(1), true)
      case 'ul':
      case 'ol':
        return this.gap() + this.element('li', this.flow(2), true) + this.gap()
      case 'dl':
        return this.element(this.pick(['dt', 'dd']), this.phrasing(1), true)
      case 'select':
      case 'optgroup':
        return this.element('option', this.text(), true)
      case 'head':
        return '<meta name=a>'
      case 'svg':
      case 'g':
        return this.pick(['<path/>', '<g></g>', '<g/>', 'x<g>a</g>'])
      default:
        return this.chance(0.5)
          ? this.element(this.pick(['span', 'b', 'i', 'a', 'div', 'p', 'section', 'ul']), this.phrasing(2), true)
          : this.flow(2)
    }
  }

  edit(document: TreeDocument): Edit | undefined {
    const all = elementsOf(document.root)
    const elements = this.chance(0.95) ? all.filter(e => !['html', 'head', 'body'].includes(e.tagName)) : all
    if (elements.length === 0) return undefined
    const element = (): ElementNode => this.pick(this.chance(0.1) ? all : elements)
    const placement = this.pick<Placement>(['append', 'append', 'prepend', 'before', 'after'])
    const target = element()
    const outer = target.parentNode && isElement(target.parentNode) ? target.parentNode : undefined
    switch (this.below(5)) {
      case 0:
        return { op: 'remove', target }
      case 1:
        return { op: 'move', source: target, anchor: this.nearby(all, target) ?? element(), placement }
      case 2:
        return { op: 'replace', target, text: this.fragment(document.kind, outer) }
      default: {
        const inside = placement === 'append' || placement === 'prepend'
        return { op: 'insert', anchor: target, placement, text: this.fragment(document.kind, inside ? target : outer) }
      }
    }
  }

  /** An element of the same family: neighbours are where moves go wrong. */
  nearby(all: ElementNode[], source: ElementNode): ElementNode | undefined {
    if (this.chance(0.3)) return undefined
    const index = all.indexOf(source)
    return all[Math.max(0, index + this.below(9) - 4)]
  }
}
