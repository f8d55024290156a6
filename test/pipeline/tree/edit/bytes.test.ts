import { expect } from 'chai'
import { parseDocument } from '../../../../pipeline/tree/document.ts'
import type { Way } from '../../../../pipeline/tree/edit/edit.ts'
import { keptText, mayTakeIn } from '../../../../pipeline/tree/edit/kept-text.ts'
import type { DocumentKind } from '../../../../pipeline/tree/nodes.ts'
import { stepsOf } from '../../../support/steps.ts'
import { find } from '../samples.ts'
import { command } from './command.ts'
import { judged } from './judge.ts'

/** Command, source, new source. */
type Case = [line: string, before: string, after: string]

/** A page around the content of its body. */
function page(content: string): string {
  return `<!DOCTYPE html>\n<HTML lang=en><head><title>T</title></head>\n<body class=b>\n${content}\n</body>\n</html>\n`
}

function check(kind: DocumentKind, way: Way, local: boolean, [line, before, after]: Case): void {
  it(`${line.replaceAll('\n', '\\n').replaceAll('\r', '\\r')} in ${JSON.stringify(before).slice(0, 60)}`, () => {
    const document = parseDocument(kind, before)
    const done = judged(document, command(document, line))
    expect(done?.document.source).to.equal(after)
    expect([done?.way, done?.local]).to.deep.equal([way, local])
  })
}

const LIST = '<UL id=u>\n  <LI id=a>A</LI>\n  <LI id=b>B &amp; C</LI><!-- end -->\n</UL>'

const SPLICED: Case[] = [
  ['replace a <li>N</li>', LIST, LIST.replace('<LI id=a>A</LI>', '<li>N</li>')],
  ['replace a <li>1</li> <li>2</li>', LIST, LIST.replace('<LI id=a>A</LI>', '<li>1</li> <li>2</li>')],
  [
    'replace b text <li title=\'1 "2"\'>x</li>&copy',
    LIST,
    LIST.replace('<LI id=b>B &amp; C</LI>', 'text <li title=\'1 "2"\'>x</li>&copy'),
  ],
  ['append u <li>N</li>', LIST, LIST.replace('\n</UL>', '\n<li>N</li></UL>')],
  ['prepend u <li>N</li>', LIST, LIST.replace('<UL id=u>', '<UL id=u><li>N</li>')],
  ['before b <li>N</li>', LIST, LIST.replace('<LI id=b>', '<li>N</li><LI id=b>')],
  ['after b <li>N</li>', LIST, LIST.replace('C</LI>', 'C</LI><li>N</li>')],
  ['append a \r\n&lt;text', LIST, LIST.replace('>A<', '>A\r\n&lt;text<')],
  ['prepend a 😀<!---->', LIST, LIST.replace('>A<', '>😀<!---->A<')],
  ['remove a', LIST, LIST.replace('<LI id=a>A</LI>', '')],
  ['remove b', LIST, LIST.replace('<LI id=b>B &amp; C</LI>', '')],
  ['remove u', LIST, ''],
  ['move a after b', LIST, '<UL id=u>\n  \n  <LI id=b>B &amp; C</LI><LI id=a>A</LI><!-- end -->\n</UL>'],
  ['move b before a', LIST, '<UL id=u>\n  <LI id=b>B &amp; C</LI><LI id=a>A</LI>\n  <!-- end -->\n</UL>'],
  ['move a append u', LIST, '<UL id=u>\n  \n  <LI id=b>B &amp; C</LI><!-- end -->\n<LI id=a>A</LI></UL>'],
  ['move b prepend u', LIST, '<UL id=u><LI id=b>B &amp; C</LI>\n  <LI id=a>A</LI>\n  <!-- end -->\n</UL>'],
  ['move a before b', LIST, '<UL id=u>\n  \n  <LI id=a>A</LI><LI id=b>B &amp; C</LI><!-- end -->\n</UL>'],
  ['move i append d', '<p>x <i id=i>y</i> z</p><div id=d></div>', '<p>x  z</p><div id=d><i id=i>y</i></div>'],
  ['move d after p', '<p>x</p>\n<div><div id=d>y</div></div>', '<p>x</p><div id=d>y</div>\n<div></div>'],
  ['move d before section', '<section><div id=d>y</div></section>', '<div id=d>y</div><section></section>'],
  ['move d after section', '<section><div id=d>y</div></section>', '<section></section><div id=d>y</div>'],
  ['move d prepend section', '<div id=d>y</div><section> </section>', '<section><div id=d>y</div> </section>'],
  // to where they are
  ['move b after a', '<UL><LI id=a>A</LI><LI id=b>B</LI></UL>', '<UL><LI id=a>A</LI><LI id=b>B</LI></UL>'],
  ['move a before b', '<UL><LI id=a>A</LI><LI id=b>B</LI></UL>', '<UL><LI id=a>A</LI><LI id=b>B</LI></UL>'],
  ['move a prepend ul', '<UL><LI id=a>A</LI><LI id=b>B</LI></UL>', '<UL><LI id=a>A</LI><LI id=b>B</LI></UL>'],
  ['move b append ul', '<UL><LI id=a>A</LI><LI id=b>B</LI></UL>', '<UL><LI id=a>A</LI><LI id=b>B</LI></UL>'],
  // end tags left out
  ['append ul <li>c', '<ul><li>a<li>b</ul>', '<ul><li>a<li>b<li>c</ul>'],
  ['append ul <li>c</li>', '<ul><li>a<li>b</ul>', '<ul><li>a<li>b<li>c</li></ul>'],
  ['after li <li>c', '<ul><li>a\n<li>b</ul>', '<ul><li>a\n<li>c<li>b</ul>'],
  ['remove li', '<ul><li>a\n<li>b</ul>', '<ul><li>b</ul>'],
  ['append li <b>x</b>', '<ul><li>a\n<li>b</ul>', '<ul><li>a\n<b>x</b><li>b</ul>'],
  ['before div <p>y', '<p>x<div>z</div>', '<p>x<p>y<div>z</div>'],
  ['append dl <dt>T<dd>D', '<dl><dt>a<dd>b</dl>', '<dl><dt>a<dd>b<dt>T<dd>D</dl>'],
  ['append select <option>b', '<select><option>a</select>', '<select><option>a<option>b</select>'],
  // tables
  ['after r <tr><td>y', '<table><tr id=r><td>x</table>', '<table><tr id=r><td>x<tr><td>y</table>'],
  ['before r <tr><td>y</tr>', '<table>\n<tr id=r><td>x</table>', '<table>\n<tr><td>y</tr><tr id=r><td>x</table>'],
  ['replace r <tr><td>y', '<table>\n<tr id=r><td>x</table>', '<table>\n<tr><td>y</table>'],
  ['append r <td>y', '<table><tr id=r><td>x</table>', '<table><tr id=r><td>x<td>y</table>'],
  ['append tbody <tr></tr>', '<table><tr id=r><td>x</table>', '<table><tr id=r><td>x<tr></tr></table>'],
  ['move r append tbody', '<table><tr id=r><td>x<tr id=s><td>y</table>', '<table><tr id=s><td>y<tr id=r><td>x</table>'],
  [
    'before tbody <caption>c</caption>',
    '<table><tbody></tbody></table>',
    '<table><caption>c</caption><tbody></tbody></table>',
  ],
  [
    'append colgroup <col span=2>',
    '<table><colgroup></colgroup></table>',
    '<table><colgroup><col span=2></colgroup></table>',
  ],
  // text
  ['remove i', 'a<i></i>b', 'ab'],
  ['remove i', '&am<i></i>b', '&amb'],
  ['before i b', 'a &am<i></i>c', 'a &amb<i></i>c'],
  ['append iframe &amp;<b>', '<iframe>x</iframe>', '<iframe>x&amp;<b></iframe>'],
  ['append script if (a<b) "&amp;"', '<script>x</script>', '<script>xif (a<b) "&amp;"</script>'],
  ['append textarea <p>\n', '<textarea>x</textarea>', '<textarea>x<p>\n</textarea>'],
  ['prepend pre x', '<pre>\ny</pre>', '<pre>\nxy</pre>'],
  ['prepend pre \nx', '<pre>\r\ny</pre>', '<pre>\r\n\nxy</pre>'],
  ['append pre \nx', '<pre>y</pre>', '<pre>y\nx</pre>'],
  // templates, foreign content
  ['append template <tr><td>x</td>', '<template></template>', '<template><tr><td>x</td></template>'],
  ['append template <td>y</td>', '<template><td>x</td></template>', '<template><td>x</td><td>y</td></template>'],
  [
    'append div <select><option selected>a<option>b</select>',
    '<div></div>',
    '<div><select><option selected>a<option>b</select></div>',
  ],
  [
    'append div <select><script>"<b>"</script><!--<b>--></select>',
    '<div></div>',
    '<div><select><script>"<b>"</script><!--<b>--></select></div>',
  ],
  ['append div <select><w:g><b>a</b></w:g></select>', '<div></div>', '<div><select><w:g><b>a</b></w:g></select></div>'],
  ['append select <option title=x>y', '<select></select>', '<select><option title=x>y</select>'],
  ['append g <path/>', '<svg><g id=g /></svg>', '<svg><g id=g ><path/></g></svg>'],
  ['prepend g <a/>', '<svg><G id="g"/></svg>', '<svg><G id="g"><a/></G></svg>'],
  [
    'append svg <foreignObject><p>x</p></foreignObject>',
    '<svg></svg>',
    '<svg><foreignObject><p>x</p></foreignObject></svg>',
  ],
  ['append g <![CDATA[</p>]]>', '<svg><g></g></svg>', '<svg><g><![CDATA[</p>]]></g></svg>'],
  ...['<script><![CDATA["</p>"]]></script>', '<desc><![CDATA[</p>]]></desc>'].map(
    (text): Case => [`append div <svg>${text}</svg>`, '<div></div>', `<div><svg>${text}</svg></div>`],
  ),
  ['append g <path/>', '<svg><g id=g a=/></svg>', '<svg><g id=g a=/><path/></svg>'],
  ['remove path', '<svg><path/><g/></svg>', '<svg><g/></svg>'],
  [
    'move p append div',
    '<p><select><button><b>x</b></button><option>1</select></p><div></div>',
    '<div><p><select><button><b>x</b></button><option>1</select></p></div>',
  ],
  ['move path append g', '<svg><path/><g/></svg>', '<svg><g><path/></g></svg>'],
]

describe('HTTP-24 a write replaces only what it changes', () => {
  for (const [line, before, after] of SPLICED) check('html', 'splice', true, [line, page(before), page(after)])

  const ENDS: Case[] = [
    ['append body <p>x</p>', page('y'), page('y\n<p>x</p>').replace('</p>\n</body>', '</p></body>')],
    ['append body x', '<p>y</p>', '<p>y</p>x'],
    ['append body <p>x</p>', '<body><p>y</p></html>', '<body><p>y</p><p>x</p></html>'],
    ['after p <p>x</p>', '<body><p>y</p>\n</body></html>\n', '<body><p>y</p><p>x</p>\n</body></html>\n'],
    ['append div x', '<body><div>y', '<body><div>yx'],
    ['append head <meta name=a>', page(''), page('').replace('</head>', '<meta name=a></head>')],
    ['replace title <title>N</title>', page(''), page('').replace('>T<', '>N<')],
    ['remove p', '<body><p>y</p>', '<body>'],
    ['remove p', '<body><p>x</body>\n</html>\n', '<body></body>\n</html>\n'],
    ['remove p', '<body><p>x<!-- </body></html>\n', '<body>'],
    [
      'append body x',
      '<body><p>y</p></body> <!--1--></html><!--2-->\n',
      '<body><p>y</p>x</body> <!--1--></html><!--2-->\n',
    ],
    [
      'replace p x<i></i>',
      '<body><p>y</p>\n</body> <!--1--></html><!--2-->\n',
      '<body>x<i></i>\n</body> <!--1--></html><!--2-->\n',
    ],
  ]
  for (const line of ENDS) check('html', 'splice', true, line)

  // A body without end tag, in an html without any, goes with all that it holds.
  check('html', 'reparsed', false, ['remove body', '<title>t</title><body class=b>\n<p>x', '<title>t</title>'])
  check('html', 'reparsed', false, ['remove body', '<body></i>x<!--c-->', ''])
  check('html', 'splice', false, [
    'replace body <body>y</body>',
    '<title>t</title><body><p>x',
    '<title>t</title><body>y</body>',
  ])
})

describe('HTTP-24 a write to misnested markup replaces only what it changes where it can', () => {
  const MISNESTED: Case[] = [
    ['append div z', '<b>x<p>y</b></p><div></div>', '<b>x<p>y</b></p><div>z</div>'],
    ['remove style', '<b>x<p>y</b></p></body> <style></style></html>\n', '<b>x<p>y</b></p></body> </html>\n'],
    ['append textarea z', '<b>x<p>y</b></p><textarea></body></html>\n', '<b>x<p>y</b></p><textarea></body></html>\nz'],
    ['append textarea z', '<body><textarea>y</body></html>\n', '<body><textarea>y</body></html>\nz'],
    ['move i append div', '<b>x<p>y</b></p><i>z</i><div></div>', '<b>x<p>y</b></p><div><i>z</i></div>'],
  ]
  for (const line of MISNESTED) check('html', 'splice', line[2].startsWith('<body>'), line)
})

describe('HTTP-24 more is written where a splice would be read otherwise', () => {
  const WRITTEN: [Way, string, string, string][] = [
    ['normalised', 'append div <b>x', '<div></div>', '<div><b>x</b></div>'],
    ['normalised', 'append div x<!-- a', '<div></div>', '<div>x<!-- a--></div>'],
    ['normalised', 'append div </div><i>x</i>', '<div></div>', '<div><i>x</i></div>'],
    ['normalised', 'append div y</div>', '<div>x</div>', '<div>xy</div>'],
    ['normalised', 'append div x<body lang=n>', '<div></div>', '<div>x</div>'],
    ['normalised', 'append div <script>x', '<div></div>', '<div><script>x</script></div>'],
    // In `select`, browsers of today make elements of tags that the parser passes over.
    ['normalised', 'append div <select><style></select>', '<div></div>', '<div><select></select></div>'],
    ['normalised', 'append div <select><table>', '<div></div>', '<div><select></select></div>'],
    [
      'normalised',
      'append div <p><select><option>a<iframe>',
      '<div></div>',
      '<div><p><select><option>a</option></select></p></div>',
    ],
    ['normalised', 'append div <select><table><input>', '<div></div>', '<div><select></select><input></div>'],
    ['normalised', 'append div <select><keygen>', '<div></div>', '<div><select></select><keygen></div>'],
    [
      'normalised',
      'append div <p><select><option>a<textarea>x</textarea></p>',
      '<div></div>',
      '<div><p><select><option>a</option></select><textarea>x</textarea></p></div>',
    ],
    [
      'normalised',
      'move select prepend div',
      '<div><textarea></textarea></div><p><select><option>x<keygen></p>',
      '<div><select><option>x</option></select><textarea></textarea></div><p><keygen></p>',
    ],
    ['normalised', 'append div <svg><desc></p>', '<div></div>', '<div><svg><desc><p></p></desc></svg></div>'],
    ['normalised', 'append div <p><select><x-in>a</select>b', '<div></div>', '<div><p><select>a</select>b</p></div>'],
    [
      'normalised',
      'append select <option title="<b>">x',
      '<select></select>',
      '<select><option title="&lt;b&gt;">x</option></select>',
    ],
    ['normalised', 'append select <hr></p>', '<select></select>', '<select><hr></select>'],
    [
      'normalised',
      'append table <tr><td>y</td></tr>',
      '<table><tr><td>x</td></tr></table>',
      '<table><tr><td>x</td></tr><tbody><tr><td>y</td></tr></tbody></table>',
    ],
    ['normalised', 'replace li <li>N', '<ul><li>A</li>\n</ul>', '<ul><li>N</li>\n</ul>'],
    ['normalised', 'prepend pre \nx', '<pre>y</pre>', '<pre>\n\nxy</pre>'],
    ['normalised', 'remove b', '<pre><b></b>\ny</pre>', '<pre>\n\ny</pre>'],
    ['closed', 'append ul x', '<ul><li>a<li>b</ul>', '<ul><li>a<li>b</li>x</ul>'],
    ['closed', 'remove div', '<p>a<div>b</div>c', '<p>a</p>c'],
    ['closed', 'after p x', '<section><p>a<p>b</section>', '<section><p>a</p>x<p>b</section>'],
    ['closed', 'after li <p>x', '<ul><li><p>a<li>b</ul>', '<ul><li><p>a</p></li><p>x<li>b</ul>'],
    ['closed', 'remove tr', '<table><tr></tr>\n</table>', '<table><tbody>\n</table>'],
    [
      'normalised',
      'append li <i><svg><foreignObject><lineargradient><svg></lineargradient></foreignObject></svg></i>',
      '<ul><li>a</li></ul>',
      '<ul><li>a<i><svg><foreignObject><lineargradient><svg></svg></lineargradient></foreignObject></svg></i></li></ul>',
    ],
    [
      'normalised',
      'move table append section',
      '<div><table><thead></tbody></thead></table></div><section></section>',
      '<div></div><section><table><thead></thead></table></section>',
    ],
    [
      'normalised',
      'prepend template <form><details></form>',
      '<template><b>t</b></template>',
      '<template><form><details></details></form><b>t</b></template>',
    ],
    [
      'splice',
      'append template <form><p>x</p><svg/><br></form>',
      '<template></template>',
      '<template><form><p>x</p><svg/><br></form></template>',
    ],
    [
      'splice',
      'append section <form><p>x</form><template><form><p>x</form></template>',
      '<section></section>',
      '<section><form><p>x</form><template><form><p>x</form></template></section>',
    ],
    [
      'normalised',
      'append tbody <tr><td><table><template><td><tr></template></table></td></tr>',
      '<table><tbody></tbody></table>',
      '<table><tbody><tr><td><table><template><td></td></template></table></td></tr></tbody></table>',
    ],
    [
      'normalised',
      'append template <td>x<tr>',
      '<table><tr><td><template></template></td></tr></table>',
      '<table><tr><td><template><td>x</td></template></td></tr></table>',
    ],
    [
      'normalised',
      'append desc <p><i>a</p></p><b>b</b></i>',
      '<svg><desc></desc></svg>',
      '<svg><desc><p><i>a</i></p><p></p><i><b>b</b></i></desc></svg>',
    ],
    [
      'normalised',
      'append thead <td><table><tr></tr></thead></table>',
      '<table><thead></thead></table>',
      '<table><thead><tr><td><table><tbody><tr></tr></tbody></table></td></tr></thead></table>',
    ],
    [
      'normalised',
      'append td <table><thead> </tbody><th></table>',
      '<table><tbody><tr><td></td></tr></tbody></table>',
      '<table><tbody><tr><td><table><thead> <tr><th></th></tr></thead></table></td></tr></tbody></table>',
    ],
    [
      'normalised',
      'append tbody <tr></tr></thead>',
      '<table><thead><tr><td><table><tbody></tbody></table></td></tr></thead></table>',
      '<table><thead><tr><td><table><tbody><tr></tr></tbody></table></td></tr></thead></table>',
    ],
    [
      'splice',
      'append tbody <tr><td><table><tr><td>x</tr></tbody></table></tr>',
      '<table><tbody></tbody></table>',
      '<table><tbody><tr><td><table><tr><td>x</tr></tbody></table></tr></tbody></table>',
    ],
    ['ancestor', 'remove tbody', '<div><table id=x><tr><td>x</table></div>', '<div><table id="x"></table></div>'],
    ['ancestor', 'remove i', '<p id=p>a&am<i></i>p;</p>', '<p id="p">a&amp;amp;</p>'],
  ]
  for (const [way, line, before, after] of WRITTEN) {
    check('html', way, true, [line, page(before), page(after)])
  }
  const MOVED_OR_IN_TEMPLATES: [Way, string, string, string][] = [
    [
      'normalised',
      'move svg append section',
      '<div><svg><desc>a</br>b</desc></svg></div><section></section>',
      '<div></div><section><svg><desc>a<br>b</desc></svg></section>',
    ],
    [
      'splice',
      'append tbody <tr><td><template><tr><td>x<tr><td>y</template></tr>',
      '<table><tbody></tbody></table>',
      '<table><tbody><tr><td><template><tr><td>x<tr><td>y</template></tr></tbody></table>',
    ],
    [
      'normalised',
      'append section <x-a><form><p>x</form></x-a>',
      '<template><section></section></template>',
      '<template><section><x-a><form><p>x</p></form></x-a></section></template>',
    ],
    [
      'normalised',
      'append form <section>x',
      '<template><form></form><b>t</b></template>',
      '<template><form><section>x</section></form><b>t</b></template>',
    ],
    [
      'normalised',
      'append section <template><tbody><template></template>',
      '<template><table><tr><td><section></section></td></tr></table><b>t</b></template>',
      '<template><table><tr><td><section><template><tbody><template></template></tbody></template></section></td></tr></table><b>t</b></template>',
    ],
    ['splice', 'append ul <li>x', '<template><ul></ul></template>', '<template><ul><li>x</ul></template>'],
    [
      'normalised',
      'move i prepend section',
      '<i><form><p>x</form></i><template><section><b>t</b></section></template>',
      '<template><section><i><form><p>x</p></form></i><b>t</b></section></template>',
    ],
    [
      'splice',
      'move i append section',
      '<div><i><p>x</p></br><table><tbody><tr><td>a</p></td></tr></tbody></table><svg><g/></svg></i></div><section></section>',
      '<div></div><section><i><p>x</p></br><table><tbody><tr><td>a</p></td></tr></tbody></table><svg><g/></svg></i></section>',
    ],
  ]
  for (const [way, line, before, after] of MOVED_OR_IN_TEMPLATES)
    check('html', way, false, [line, page(before), page(after)])
  const open = '<!DOCTYPE html><ul><li>a'
  check('html', 'normalised', true, ['append li <svg><desc></p>', open, `${open}<svg><desc><p></p></desc></svg>`])

  it('SEC-12 names of tags in a select, and sections in SVG, are looked through in steps', () => {
    const document = parseDocument('html', page('<select></select><svg></svg>'))
    for (const text of ['<x:y>', '<option>'])
      expect(stepsOf(mayTakeIn(`<x:y>${text.repeat(5000)}`, [find(document.root, 'select')]))).to.be.at.least(10)
    const sections = `${'<![CDATA[]]>'.repeat(5000)}<![CDATA[</p>]]>`
    expect(stepsOf(keptText('html', find(document.root, 'svg'), [], sections))).to.be.at.least(10)
  })

  it('the parsed text is the document where there is no HTML for the tree', () => {
    const document = parseDocument('html', page('<p id=p>a</p>'))
    const done = judged(document, command(document, 'append p <p>b'))
    expect(done?.way).to.equal('reparsed')
    expect(done?.document.source).to.equal(page('<p id=p>a<p>b</p></p>'))
  })
})

describe('HTTP-80 html, head and body are taken from a document', () => {
  const SHELL: [Way, string, string][] = [
    [
      'splice',
      'replace body <body id=n><p>x</body>',
      page('y').replace(/<body[\s\S]*<\/body>/, '<body id=n><p>x</body>'),
    ],
    [
      'splice',
      'replace body <!doctype html><html><body id=n>x</body></html>',
      page('y').replace(/<body[\s\S]*<\/body>/, '<body id=n>x</body>'),
    ],
    ['normalised', 'replace body <p>x', page('y').replace(/<body[\s\S]*<\/body>/, '<body><p>x</p></body>')],
    [
      'splice',
      'replace head <head><meta name=a></head>',
      page('y').replace(/<head>.*<\/head>/, '<head><meta name=a></head>'),
    ],
    ['normalised', 'replace head <meta name=a>', page('y').replace(/<head>.*<\/head>/, '<head><meta name="a"></head>')],
    [
      'splice',
      'replace html <html><head></head><body>x</body></html>',
      '<!DOCTYPE html>\n<html><head></head><body>x</body></html>\n',
    ],
    ['normalised', 'replace html <p>x', '<!DOCTYPE html>\n<html><head></head><body><p>x</p></body></html>\n'],
  ]
  for (const [way, line, after] of SHELL) check('html', way, false, [line, page('y'), after])
})

describe('HTTP-24 XML', () => {
  const XML =
    '<?xml version="1.0"?>\r\n<r xmlns="urn:r" xmlns:p="urn:p">\r\n  <a id="a" />\r\n  <p:b id=\'b\'>x<![CDATA[<]]></p:b>\r\n</r>\r\n'
  const CASES: [Way, string, string, string][] = [
    ['splice', 'replace a <p:n/>', XML, XML.replace('<a id="a" />', '<p:n/>')],
    ['splice', 'append a x', XML, XML.replace('<a id="a" />', '<a id="a" >x</a>')],
    ['splice', 'prepend a <p:n/>', XML, XML.replace('<a id="a" />', '<a id="a" ><p:n/></a>')],
    ['splice', 'append b &gt;', XML, XML.replace(']]></p', ']]>&gt;</p')],
    ['splice', 'before b <n/>', XML, XML.replace('<p:b', '<n/><p:b')],
    ['splice', 'after b <n/>', XML, XML.replace('</p:b>', '</p:b><n/>')],
    ['splice', 'append r <n/>', XML, XML.replace('</r>', '<n/></r>')],
    ['splice', 'remove b', XML, XML.replace(/<p:b.*p:b>/, '')],
    ['splice', 'move a append b', XML, XML.replace('<a id="a" />', '').replace(']]></p', ']]><a id="a" /></p')],
    [
      'splice',
      'move b append a',
      XML,
      XML.replace(/<p:b.*p:b>/, '').replace('<a id="a" />', '<a id="a" ><p:b id=\'b\'>x<![CDATA[<]]></p:b></a>'),
    ],
    ['normalised', 'append b >', '<r><b>]]</b></r>', '<r><b>]]&gt;</b></r>'],
    [
      'normalised',
      'move n append m',
      '<r><a xmlns:q="urn:q"><q:x id="n"/></a><b id="m"></b></r>',
      '<r><a xmlns:q="urn:q"></a><b id="m"><q:x id="n" xmlns:q="urn:q"/></b></r>',
    ],
    ['ancestor', 'remove b', '<r>\r<b/>\n</r>', '<r>\n\n</r>'],
  ]
  for (const [way, line, before, after] of CASES) {
    check('xml', way, !(way === 'ancestor'), [line, before, after])
  }
  check('xml', 'splice', false, ['replace r <!-- n --><n/>', XML, '<?xml version="1.0"?>\r\n<!-- n --><n/>\r\n'])
  check('xml', 'splice', false, ['append r x', '<r/>', '<r>x</r>'])
})
