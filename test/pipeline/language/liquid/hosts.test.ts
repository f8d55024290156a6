import { expect } from 'chai'
import { findingHosts, type TemplateHost, withoutSources } from '../../../../pipeline/language/liquid/hosts.ts'
import { inScopeNamespaces } from '../../../../pipeline/tree/namespaces.ts'
import type { ElementNode } from '../../../../pipeline/tree/nodes.ts'
import { parsingPrefixed } from '../../../../pipeline/tree/prefixed-parser.ts'
import { atOnce } from '../../../../pipeline/tree/steps.ts'

const NS = 'https://ns.example/1.0'

/** Prefixes by the nearest declaration, as HTML names (`xmlns:p`) or XML ones. */
function declared(element: ElementNode, prefix: string): string | undefined {
  const found = inScopeNamespaces(element).get(prefix)
  if (found !== undefined) return found
  for (let node = element as ElementNode['parentNode']; node && 'attrs' in node; node = node.parentNode) {
    const own = node.attrs.find(a => a.name === `xmlns:${prefix}`)
    if (own) return own.value
  }
  return undefined
}

function isHost(element: ElementNode): boolean {
  return element.attrs.some(a => {
    const [prefix = '', local] = a.prefix ? [a.prefix, a.name] : a.name.split(':')
    return local === 'template' && declared(element, prefix) === NS
  })
}

function hostsOf(text: string, kind: 'html' | 'xml' = 'html'): TemplateHost[] {
  return atOnce(findingHosts(text, { kind, isHost, ...(text.includes('<p:') && { parse: parsingPrefixed }) }))
}

const X = `xmlns:p="${NS}"`
const T = `p:template="text/liquid"`

describe('Hosts of templates', () => {
  const cases: [string, string, string[]][] = [
    [
      'LIQ-1 the declaration may stand on the host, under any prefix',
      `<p xmlns:q="${NS}" q:template="text/liquid">{{ a }}</p>`,
      ['{{ a }}'],
    ],
    ['LIQ-1 the declaration may stand on an ancestor', `<main ${X}><p ${T}>a</p></main>`, ['a']],
    ['LIQ-2 an unbound prefix declares nothing', `<p ${T}>{{ a }}</p>`, []],
    ['LIQ-2 a prefix bound to another URI declares nothing', `<p xmlns:p="https://other.example" ${T}>{{ a }}</p>`, []],
    [
      'LIQ-5 tables keep loops where they are written',
      `<table ${X} ${T}>{% for a in b %}<tr><td>{{ a }}</td></tr>{% endfor %}</table>`,
      ['{% for a in b %}<tr><td>{{ a }}</td></tr>{% endfor %}'],
    ],
    [
      'LIQ-5 a tbody',
      `<table ${X}><tbody ${T}>{% for a in b %}<tr>{% endfor %}</tbody></table>`,
      ['{% for a in b %}<tr>{% endfor %}'],
    ],
    [
      'LIQ-5 a row',
      `<table ${X}><tr ${T}>{% for a in b %}<td>{{ a }}</td>{% endfor %}</tr></table>`,
      ['{% for a in b %}<td>{{ a }}</td>{% endfor %}'],
    ],
    [
      'LIQ-5 a select',
      `<select ${X} ${T}>{% for a in b %}<option>{{ a }}</option>{% endfor %}</select>`,
      ['{% for a in b %}<option>{{ a }}</option>{% endfor %}'],
    ],
    [
      'LIQ-5 the html element',
      `<!doctype html><html ${X} ${T}><head>{% if a %}<title>x</title>{% endif %}</head><body>{{ b }}</body></html>`,
      ['<head>{% if a %}<title>x</title>{% endif %}</head><body>{{ b }}</body>'],
    ],
    [
      'LIQ-5 a head',
      `<html ${X}><head ${T}>{{ a }}<title>{{ b }}</title></head><body></body></html>`,
      ['{{ a }}<title>{{ b }}</title>'],
    ],
    ['LIQ-5 a body', `<html ${X}><body ${T}>{{ a }}<p>x</p></body></html>`, ['{{ a }}<p>x</p>']],
    ['LIQ-5 a script', `<script ${X} ${T}>const a = "<p>" + {{ b }};</script>`, ['const a = "<p>" + {{ b }};']],
    ['LIQ-5 a textarea', `<textarea ${X} ${T}><b>{{ b }}</textarea>`, ['<b>{{ b }}']],
    [
      'LIQ-6 comparisons and literals open and close nothing',
      `<p ${X} ${T}>{% if a <b %}x{% endif %}{{ "</p><i>" | escape }}</p><p>y</p>`,
      ['{% if a <b %}x{% endif %}{{ "</p><i>" | escape }}'],
    ],
    ['LIQ-6 a quoted delimiter does not end an output', `<p ${X} ${T}>{{ "}}</p>" }}z</p>`, ['{{ "}}</p>" }}z']],
    [
      'LIQ-6 a comment block is opaque',
      `<p ${X} ${T}>{% comment %}</p>{% endcomment %}z</p>`,
      ['{% comment %}</p>{% endcomment %}z'],
    ],
    [
      'LIQ-6 the text of a raw block is markup',
      `<div ${X} ${T}>{% raw %}<div>{{ a }}</div>{% endraw %}z</div>x`,
      ['{% raw %}<div>{{ a }}</div>{% endraw %}z'],
    ],
    [
      'LIQ-6 tags among attributes',
      `<div ${X} ${T}><i {% if a > b %}class="x"{% endif %}>z</i></div>`,
      ['<i {% if a > b %}class="x"{% endif %}>z</i>'],
    ],
    [
      'LIQ-2 Liquid-looking text outside hosts hides no host',
      `<div ${X}>{{ "<p ${T}>a</p>" }} {% <p ${T}>b</p></div>`,
      ['a', 'b'],
    ],
    [
      'LIQ-2 COMP-147 nor does it, behind what only looks like a host, close or open anything',
      `<main ${X}><b z:template><i title="{%"></i></b> %}<div id="x" ${T}>{{ "</div>" }}</div><b>{{ c }}</b></main>`,
      ['{{ "</div>" }}'],
    ],
    [
      'LIQ-2 COMP-147 nor in content that is text to HTML alone, or a comment',
      `<main ${X}><svg><desc><style><!--</style></desc></svg><div ${T}>{{ "</div>" }}</div>`,
      ['{{ "</div>" }}'],
    ],
    [
      'LIQ-2 COMP-147 nor behind a host without end tag',
      `<main ${X}><ul><li ${T}>{{ "</ul>" }}</ul><b title="{%"></b> %}<div id="x" ${T}>{{ "</div>" }}</div><b>{{ c }}</b></main>`,
      ['{{ "</ul>" }}', '{{ "</div>" }}'],
    ],
    [
      'LIQ-6 several hosts without end tag whose Liquid seems to end them',
      `<main ${X}><ul><li ${T}>{{ "</ul>" }}</ul><ul><li ${T}>{{ "</ul>a" }}</ul><p>{{ "<i>" }}</p><p ${T}>{{ '<!--' }}</p></main>`,
      ['{{ "</ul>" }}', '{{ "</ul>a" }}', "{{ '<!--' }}"],
    ],
    [
      'LIQ-2 COMP-147 what stands behind an empty host hides no other one',
      `<main ${X}><p:x ${T}/>{{ "<div ${T}>" }}</main>`,
      ['', '" }}'],
    ],
    [
      'LIQ-2 COMP-147 nor does it in a table that has ended',
      `<main ${X}><table ${T}></template></table>{{ "<div ${T}>" }}</main>`,
      ['</template>', '" }}'],
    ],
    [
      'LIQ-6 the Liquid of a host without end tag that seems to end it, wherever it stands in it',
      `<main ${X}><svg ${T}>{{ "<p>" }}{{ "<b>" }}</main>`,
      ['{{ "<p>" }}{{ "<b>" }}'],
    ],
    [
      'LIQ-6 the same behind an empty host',
      `<main ${X}><p:x ${T}/><p ${T}>{{ "<p>" }}{{ "<p>" }}</main>`,
      ['', '{{ "<p>" }}{{ "<p>" }}'],
    ],
    [
      'LIQ-6 a comment that Liquid seems to begin in an element with a prefix',
      `<main ${X}><p:x ${T}>{{ '<!--' }}</p:x></main>`,
      ["{{ '<!--' }}"],
    ],
    [
      'LIQ-6 a literal block that ends its host, before others',
      `<main ${X}><div ${T}>{% raw %}</div>{% endraw %}<p:x ${T}/><div ${T}>{{ '<style>' }}</main>`,
      ['{% raw %}', '', "{{ '<style>' }}"],
    ],
    ['COMP-48 hosts inside a host are its source', `<div ${X} ${T}><p ${T}>a</p></div>`, [`<p ${T}>a</p>`]],
    ['COMP-46 siblings are hosts of their own', `<div ${X}><p ${T}>a</p><p ${T}>b</p></div>`, ['a', 'b']],
    [
      'COMP-8 an element without end tag ends where its parent does',
      `<ul ${X}><li ${T}>{{ a }}<li ${T}>{{ b }}</ul>z`,
      ['{{ a }}', '{{ b }}'],
    ],
    ['COMP-46 an empty element is a host without source', `<br ${X} ${T}>z`, ['']],
    ['LIQ-1 contents of template elements hold hosts', `<template ${X}><p ${X} ${T}>a</p></template>`, ['a']],
  ]
  for (const [title, text, sources] of cases) {
    it(title, () => {
      const hosts = hostsOf(text)
      expect(hosts.map(h => h.source)).to.deep.equal(sources)
      for (const host of hosts) expect(text.slice(host.start, host.end)).to.equal(host.source)
    })
  }

  const xml: [string, string, string[]][] = [
    [
      'the root of a document',
      `<feed ${X} ${T}>{% for a in b %}<entry a="{{ a }}"/>{% endfor %}</feed>`,
      ['{% for a in b %}<entry a="{{ a }}"/>{% endfor %}'],
    ],
    ['an element of the host’s own name', `<a ${X} ${T}><a>{{ x }}</a><a/></a>`, ['<a>{{ x }}</a><a/>']],
    [
      'attributes that depend on a condition',
      `<a ${X} ${T}><b {% if x %}k="1"{% else %}k="2"{% endif %}/></a>`,
      ['<b {% if x %}k="1"{% else %}k="2"{% endif %}/>'],
    ],
    [
      'end tags in comments, sections and instructions',
      `<a ${X} ${T}><!-- </a> --><![CDATA[</a>]]><?x </a>?>z</a>`,
      ['<!-- </a> --><![CDATA[</a>]]><?x </a>?>z'],
    ],
    ['a comment that begins like its end', `<r ${X}><!--><a ${T}>--><!---><a ${T}>--><a ${T}>z</a></r>`, ['z']],
    ['an empty-element tag', `<r ${X}><a ${T}/><b>{{ x }}</b></r>`, ['']],
    ['names are case-sensitive', `<r ${X}><a p:Template="text/liquid">z</a></r>`, []],
    ['prefixes are lexical', `<r><a ${X}/><b ${T}>z</b></r>`, []],
  ]
  for (const [title, text, sources] of xml) {
    it(`LIQ-5 XML: ${title}`, () => {
      expect(hostsOf(text, 'xml').map(h => h.source)).to.deep.equal(sources)
    })
  }

  it('LIQ-9 blanked sources keep all offsets and every other character', () => {
    const text = `<ul ${X}><li ${T}>{{ a }}</li><li>é</li></ul>`
    const blanked = withoutSources(text, hostsOf(text))
    expect(blanked).to.equal(text.replace('{{ a }}', '       '))
  })

  it('LIQ-64 the line of a host’s source is that of the document', () => {
    expect(hostsOf(`<main ${X}>\n\n<p ${T}>\n{{ a }}</p></main>`).map(h => h.line)).to.deep.equal([3])
  })

  it('LIQ-6 unclosed spans are scanned once', () => {
    const text = `<p ${X} ${T}>${'{{ '.repeat(200_000)}</p>`
    expect(hostsOf(text)).to.have.length(1)
  })
})
