import { describe } from 'mocha'
import { selecting } from '../../http/write-checks.ts'
import { NS } from '../../support/content.ts'
import { PREFIXES } from './composing.ts'
import { type Cases, caseSite, casesOf, schema } from './site-of-one-case.ts'

const li = (n: number) => Array.from({ length: n }, (_, i) => `<li>${i + 1}</li>`).join('')

const pagination: Cases = [
  [
    'COMP-63 COMP-66 COMP-67 the example, word for word',
    {
      page: `<ul id="items" p:paginate="3">${li(7)}</ul>`,
      target: '/page.html?q=a&paginate:page=2',
      is: '<ul id="items"><li>4</li><li>5</li><li>6</li></ul>',
      has: '<link rel="first" href="?q=a&amp;paginate:page=1" title="items"><link rel="prev" href="?q=a&amp;paginate:page=1" title="items"><link rel="next" href="?q=a&amp;paginate:page=3" title="items"><link rel="last" href="?q=a&amp;paginate:page=3" title="items">',
      headers: { link: /<\/page\.html\?q=a&paginate:page=3>; rel="next"; title="items"/ },
    },
  ],
  [
    'COMP-63 the attribute on a tbody divides rows',
    {
      page: '<table><tbody p:paginate="1"><tr><td>1</td></tr><tr><td>2</td></tr></tbody></table>',
      target: '/page.html?paginate:page=2',
      is: '<table><tbody><tr><td>2</td></tr></tbody></table>',
    },
  ],
  [
    'COMP-63 it divides what includes, stamps and methods have put there',
    {
      page: '<ul xmlns:t="urn:t" p:paginate="2" r:x="li.x"><p:stamp x/><t:two/><p:include selector="#inc" resource="/x.html"/></ul>',
      files: {
        '/x.html': `<ul><li class="x">1</li><li id="inc">5</li></ul>${schema('urn:t', [{ name: 'two', sessel: '[new li { 3 }, new li { 4 }]' }])}`,
      },
      target: '/page.html?paginate:page=2',
      is: '<ul><li>4</li><li id="inc">5</li></ul>',
    },
  ],
  [
    'COMP-63 a paginator that comes with an include or with a template works',
    {
      page: '<p:include selector="#list" resource="/x.html"/>',
      files: {
        '/x.html': `<!doctype html><html ${PREFIXES}><body><ul id="list" p:paginate="2">${li(3)}</ul></body></html>`,
      },
      is: '<ul id="list"><li>1</li><li>2</li></ul>',
      headers: { link: /title="list"/ },
    },
  ],
  ...(
    [
      ['0', '1 2 3'],
      ['-1', '1 2 3'],
      ['2.5', '1 2 3'],
      ['1e1', '1 2 3'],
      ['%202', '1 2 3'],
      ['two', '1 2 3'],
      ['%D9%A2', '1 2 3'],
      ['999', '7'],
      ['18446744073709551617', '7'],
      ['3', '7'],
    ] as const
  ).map(([value, expected]): Cases[number] => [
    `COMP-64 a page of ${value}`,
    {
      page: `<ul p:paginate="3">${li(7)}</ul>`,
      target: `/page.html?paginate:page=${value}`,
      is: `<ul>${expected
        .split(' ')
        .map(n => `<li>${n}</li>`)
        .join('')}</ul>`,
    },
  ]),
  [
    'COMP-64 the prefixed form wins, the other holds for all that have none',
    {
      page: `<ul id="a" p:paginate="1">${li(3)}</ul><ul id="b" p:paginate="1">${li(3)}</ul>`,
      target: '/page.html?paginate:page=3&paginate%3Aa%3Apage=2&paginate:b:length=2',
      is: '<ul id="a"><li>2</li></ul><ul id="b"><li>3</li></ul>',
    },
  ],
  [
    'COMP-66 COMP-67 several paginators: links of each, with the state of the others',
    {
      page: `<ul id="a" p:paginate="1">${li(2)}</ul><ul id="b" p:paginate="1">${li(2)}</ul>`,
      target: '/page.html?f=1&paginate:a:page=2',
      has: '<link rel="first" href="?f=1&amp;paginate:a:page=1" title="a"><link rel="prev" href="?f=1&amp;paginate:a:page=1" title="a"><link rel="last" href="?f=1&amp;paginate:a:page=2" title="a"><link rel="first" href="?f=1&amp;paginate:a:page=2&amp;paginate:b:page=1" title="b"><link rel="next" href="?f=1&amp;paginate:a:page=2&amp;paginate:b:page=2" title="b"><link rel="last" href="?f=1&amp;paginate:a:page=2&amp;paginate:b:page=2" title="b">',
    },
  ],
  [
    'COMP-66 one page has no links, an empty container neither',
    {
      page: `<ul id="a" p:paginate="3">${li(3)}</ul><ul id="b" p:paginate="3"></ul>`,
      hasNot: '<link',
      headers: { link: undefined },
    },
  ],
  [
    'COMP-66 XML has links in the header alone',
    {
      files: { '/x.xml': `<a xmlns:p="${NS}/1.0" p:paginate="1"><b/><c/></a>` },
      target: '/x.xml?paginate:page=2',
      has: '><c/></a>',
      hasNot: '<link',
      headers: {
        link: '</x.xml?paginate:page=1>; rel="first", </x.xml?paginate:page=1>; rel="prev", </x.xml?paginate:page=2>; rel="last"',
      },
    },
  ],
  [
    'COMP-68 a selector sees the divided page, with its links',
    {
      page: `<ul id="u" p:paginate="3">${li(7)}</ul>`,
      target: '/page.html?paginate:page=3',
      fields: selecting('ul'),
      is: '<ul id="u"><li>7</li></ul>',
      headers: { link: /rel="prev"/ },
    },
  ],
  ...(['0', '-1', '1.5', 'x', '', '+2'] as const).map((length): Cases[number] => [
    `COMP-65 a length of ${JSON.stringify(length)} is 422`,
    {
      page: `<ul p:paginate="${length}">${li(2)}</ul>`,
      status: 422,
      has: 'CompositionError',
      headers: { 'cache-control': 'no-store' },
    },
  ]),
  [
    'COMP-65 two paginators, one of them without id, are 422; so are two of the same id',
    { page: `<ul p:paginate="1">${li(2)}</ul><ul id="b" p:paginate="1">${li(2)}</ul>`, status: 422 },
  ],
]

describe('Pages of lists, by the text of the rules', () => {
  const site = caseSite()
  casesOf(site, pagination)
})
