// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions have placeholders of their own
/** Which method a directive of a page calls, through a real server and by the text of the rules. */

import { describe } from 'mocha'
import { NS } from '../../support/content.ts'
import { type Cases, caseSite, casesOf, ELEMENT, type Method, schema } from './site-of-one-case.ts'

const T = 'xmlns:t="urn:t"'
const with_ = (...methods: Method[]) => ({ '/schema.html': schema('urn:t', methods) })
const inside = (body: string) => `<main ${T}>${body}</main>`
const shown = (body: string) => `<main>${body}</main>`

const GREETER = `<div hidden itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="urn:demo:Greeter">
 <div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="greet">
  <meta itemprop="returns" content="${NS}/Element">
  <div itemprop="parameter" itemscope itemtype="${NS}/Parameter"><meta itemprop="name" content="who"><meta itemprop="type" content="https://schema.example/Text"></div>
  <div itemprop="implementation" itemscope itemtype="${NS}/Sessel"><script itemprop="source" type="text/sessel">new p { "Hello, " + who }</script></div>
 </div></div>`

const calls: Cases = [
  [
    'COMP-52 the example: a schema as it is written, on a page that binds its type',
    {
      page: `<!doctype html><html xmlns:t="urn:demo:Greeter"><body><t:greet who="Ada" lang="en"></t:greet></body></html>`,
      files: { '/schema.html': GREETER },
      is: '<p>Hello, Ada</p>',
    },
  ],
  [
    'COMP-51 a schema may be declared by the page itself',
    {
      page: `${schema('urn:t', [{ name: 'hi', sessel: '"hi"' }])}${inside('<t:hi/>')}`,
      has: '<main>hi</main>',
    },
  ],
  [
    'COMP-53 other attributes and declarations are no arguments; absent ones are null',
    {
      page: inside('<t:m a="1" xmlns:q="urn:q" c="3" p:d="4"/>'),
      files: with_({ name: 'm', parameters: ['a', 'b'], sessel: 'a + (b == null ? "null" : b)' }),
      is: shown('1null'),
    },
  ],
  [
    'COMP-53 a script has parameters by position, absent ones are null',
    {
      page: inside('<t:m c="3" a="1"/>'),
      files: with_({
        name: 'm',
        parameters: ['a', 'b', 'c'],
        javascript: 'export default (...list) => JSON.stringify(list)',
      }),
      is: shown('["1",null,"3"]'),
    },
  ],
  [
    'COMP-53 an empty attribute is an empty text, not null',
    {
      page: inside('<t:m a/>'),
      files: with_({ name: 'm', parameters: ['a'], sessel: 'a == null ? "null" : "[" + a + "]"' }),
      is: shown('[]'),
    },
  ],
  [
    'COMP-9 COMP-53 parameters in mixed case are found in HTML',
    {
      page: inside('<t:sayHi firstName="A"/><t:SAYHI FIRSTNAME="B"/>'),
      files: with_({ name: 'sayHi', parameters: ['firstName'], sessel: '"Hi " + firstName' }),
      is: shown('Hi AHi B'),
    },
  ],
  [
    'COMP-9 the exact spelling of a method is preferred',
    {
      page: inside('<t:do/><t:DO/>'),
      files: with_({ name: 'DO', sessel: '"upper"' }, { name: 'do', sessel: '"lower"' }),
      is: shown('lowerupper'),
    },
  ],
  [
    'COMP-9 XML is case-sensitive',
    {
      files: { ...with_({ name: 'Do', sessel: '"x"' }), '/x.xml': '<a xmlns:t="urn:t"><t:do/></a>' },
      target: '/x.xml',
      status: 500,
    },
  ],
  [
    'COMP-54 the overload whose parameters all appear, the one with most first',
    {
      page: inside('<t:m a="1" b="2"/>,<t:m a="1"/>,<t:m/>,<t:m a="1" b="2" c="3"/>'),
      files: with_(
        { name: 'm', parameters: ['a'], sessel: '"one"' },
        { name: 'm', sessel: '"zero"' },
        { name: 'm', parameters: ['a', 'b'], sessel: '"two"' },
      ),
      is: shown('two,one,zero,two'),
    },
  ],
  [
    'COMP-54 ties go to the one that is declared first',
    {
      page: inside('<t:m a="1" b="2"/>'),
      files: with_({ name: 'm', parameters: ['a'], sessel: '"a"' }, { name: 'm', parameters: ['b'], sessel: '"b"' }),
      is: shown('a'),
    },
  ],
  [
    'COMP-54 none qualifies: fewest missing, then fewest parameters, called with nulls',
    {
      page: inside('<t:m c="1"/>'),
      files: with_(
        { name: 'm', parameters: ['a', 'b', 'c'], sessel: '"three"' },
        { name: 'm', parameters: ['a', 'c'], sessel: '"two" + (a == null ? "null" : a) + c' },
        { name: 'm', parameters: ['d'], sessel: '"d"' },
      ),
      is: shown('d'),
    },
  ],
  [
    'COMP-54 in the attribute form the overload with exactly one parameter is preferred',
    {
      page: inside('<b t:m="v"><p:stamp got/></b>'),
      files: with_(
        { name: 'm', sessel: 'Context.got = "zero"; null' },
        { name: 'm', parameters: ['a', 'b'], sessel: 'Context.got = "two"; null' },
        { name: 'm', parameters: ['a'], sessel: 'Context.got = "one" + a; null' },
      ),
      is: shown('<b>onev</b>'),
    },
  ],
  [
    'COMP-54 else the smallest',
    {
      page: inside('<b t:m="v"><p:stamp got/></b>'),
      files: with_(
        { name: 'm', parameters: ['a', 'b', 'c'], sessel: 'Context.got = "three"; null' },
        { name: 'm', parameters: ['a', 'b'], sessel: 'Context.got = "two" + a + (b == null ? "null" : b); null' },
      ),
      is: shown('<b>twovnull</b>'),
    },
  ],
]

const chain = {
  '/a.html': schema('urn:grand', [
    { name: 'far', sessel: '"far"' },
    { name: 'same', sessel: '"grand"' },
    { name: 'doesNotUnderstand', parameters: ['messageName', 'parameters'], sessel: '"?" + messageName' },
  ]),
  '/b.html': schema('urn:parent', [{ name: 'same', parameters: ['x'], sessel: '"parent" + (x ?? "")' }], 'urn:grand'),
  '/c.html': schema('urn:t', [{ name: 'own', sessel: '"own"' }], 'urn:parent'),
}
const inheritance: Cases = [
  [
    'COMP-52 methods come from parents of parents, the nearest wins whatever its parameters',
    { page: inside('<t:far/>,<t:same/>,<t:own/>'), files: chain, is: shown('far,parent,own') },
  ],
  [
    'COMP-57 doesNotUnderstand of an ancestor catches what the whole chain lacks, both forms',
    {
      page: inside('<t:thing/>,<b t:other="v">x</b>'),
      files: chain,
      is: shown('?thing,<b>x</b>'),
    },
  ],
  [
    'COMP-57 parameters of an element: one map for each attribute that declares no prefix',
    {
      page: inside('<t:thing a="1" xmlns:z="urn:z" B="2" c/>'),
      files: with_({
        name: 'doesNotUnderstand',
        parameters: ['messageName', 'parameters'],
        javascript: 'export default (name, list) => name + JSON.stringify(list)',
      }),
      is: shown('thing[{"name":"a","value":"1"},{"name":"b","value":"2"},{"name":"c","value":""}]'),
    },
  ],
  [
    'COMP-57 parameters of an attribute: one bare text; an element replaces the host',
    {
      page: inside('<b t:someThing="v w">x</b>'),
      files: with_({
        name: 'doesNotUnderstand',
        parameters: ['messageName', 'parameters'],
        returns: ELEMENT,
        sessel: 'new i { "#{messageName}:#{parameters.count()}#{parameters.first()}" }',
      }),
      is: shown('<i>someThing:1v w</i>'),
    },
  ],
  [
    'COMP-57 it is not asked for names that there are',
    {
      page: inside('<t:is/>'),
      files: with_(
        { name: 'is', sessel: '"is"' },
        { name: 'doesNotUnderstand', parameters: ['messageName', 'parameters'], sessel: '"no"' },
      ),
      is: shown('is'),
    },
  ],
  [
    'COMP-59 transient is never dispatched, not even there',
    {
      page: inside('<b t:transient="v">x</b>'),
      files: with_({
        name: 'doesNotUnderstand',
        parameters: ['messageName', 'parameters'],
        returns: ELEMENT,
        sessel: 'new i { 1 }',
      }),
      is: shown('<b>x</b>'),
    },
  ],
]

describe('Methods that pages call, by the text of the rules', () => {
  const site = caseSite()
  for (const [name, cases] of Object.entries({ calls, inheritance })) describe(name, () => casesOf(site, cases))
})
