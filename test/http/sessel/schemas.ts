/** A schema, one that derives from it, and a page with instances, for `schema-programs.txt`. */

import { NS } from '../../support/content.ts'

const code = (slot: string, source: string, type = 'Sessel') =>
  `<div itemprop="${slot}" itemscope itemtype="${NS}/${type}"><script itemprop="source" type="text/sessel">${source}</script></div>`
const property = (name: string, more = '') =>
  `<div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="${name}">${more}</div>`
const cardinality = (text: string) => `<meta itemprop="cardinality" content="${text}">`
const method = (name: string, source: string, parameters: readonly string[] = [], more = '') =>
  `<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="${name}">${more}${parameters.map(each => `<div itemprop="parameter" itemscope itemtype="${NS}/Parameter"><meta itemprop="name" content="${each}"></div>`).join('')}${code('implementation', source)}</div>`
const schema = (type: string, ...parts: string[]) =>
  `<div itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="${type}">${parts.join('')}</div>`

export const SCHEMAS = [
  schema(
    'https://t/Base',
    property('one', cardinality('1..1')),
    property('tag', cardinality('0..n')),
    property('kids', cardinality('0..n')),
    property('none'),
    property('mood', '<meta itemprop="default" content="calm">'),
    property('twice', code('@computed', 'self.one + self.one')),
    property('shown', code('@read', 'self.map(e => e.text(e.value() + "!"))', 'Sessel/Lambda')),
    method('join', 'left + self.one + (right ?? "-")', ['left', 'right']),
    method('over', '0'),
    method('over', '1', ['a']),
    method('over', '2', ['a', 'b']),
    method('total', 'self.search().count()', [], '<meta itemprop="static" content="true">'),
    method('upward', 'self.path() == null ? "?" : "GET?"'),
  ),
  schema(
    'https://t/Derived',
    '<meta itemprop="parent" content="https://t/Base">',
    property('n', '<meta itemprop="type" content="https://schema.org/Integer">'),
    method('doesNotUnderstand', 'messageName + "/" + parameters.join(",")', ['messageName', 'parameters']),
  ),
].join('')

export const INSTANCES = `<!doctype html><html><body>
<div id="b1" itemscope itemtype="https://t/Base"><i itemprop="one">1</i><i itemprop="tag">x</i><i itemprop="shown">s</i></div>
<div id="d1" itemscope itemtype="https://t/Derived"><i itemprop="one">2</i></div>
<div id="r1" itemscope itemtype="https://t/Ref" itemref="far"><i itemprop="a">1</i></div><b id="far" itemprop="far">F</b>
<ul><li>10</li><li>9</li><li>ten</li><li>-2.5</li></ul></body></html>`
