import { expect } from 'chai'
import { parseDocument } from '../../../../pipeline/tree/document.ts'
import { command } from './command.ts'
import { judged } from './judge.ts'

describe('HTTP-24 what a splice is read as does not only depend on what stands beside it', () => {
  const CASES: [name: string, source: string, line: string][] = [
    ['the first child decides how a template is read', '<template><tr></tr></template>', 'append template <td>x</td>'],
    ['a comment that is not closed takes what follows', '<ul><li id=a><!-- x', 'after a y'],
    ['a comment that is not closed takes what follows', '<svg id=s><g><!-- x', 'after s <p>y'],
    ['a tag that is not closed takes what follows', '<ul><li id=a><b c="', 'append ul <li>y'],
    ['raw text that is not closed takes what follows', '<div><p id=p>x<script>y', 'after p <p>z'],
    [
      'a template that is not closed ends where its last tag begins',
      '<template><!--',
      'prepend template <table><p><a></ol><p>',
    ],
    ['end tags in raw text do not end the body', '<body><textarea>\ny</body></html>\n', 'append textarea <i>'],
    ['end tags in a comment do not end the body', '<body><p>x<!-- </body></html>\n', 'append p y'],
    ['text in a table joins the text before it', 'x<table><tr id=r><td>y</td></tr>&nbsp;</table>', 'append r <td>z'],
    ['a second body tag gives attributes', '<body><p id=p>x</p><p id=q><body class=c></p></body>', 'remove q'],
    ['a second body tag gives attributes', '<p id=p>x</p><p id=q><body class=c></p>', 'remove q'],
    ['a second html tag gives attributes', '<p id=p>x</p><p id=q><html lang=c></p>', 'replace q y'],
    ['a frameset waits for an empty body', '<body><p>x</p><frameset></frameset></body>', 'remove p'],
    [
      'a cell that a template closes leaves a mark',
      '<b><template><td>x</template><i id=i>y</i></b>z',
      'append i <b>w</b>',
    ],
    ['a formatting element is copied into what follows', '<p><b id=b>x</p><p id=p>y</p>', 'append p z'],
    ['a form takes no form', '<form><div id=d></div></form>', 'append d <form>x</form>'],
    ['quirks let tables into paragraphs', '<p id=p>x</p>', 'append p <table><td>y</table>'],
    [
      'a paragraph is closed by a table without quirks',
      '<!DOCTYPE html><p id=p>x</p>',
      'append p <table><td>y</table>',
    ],
    ['a line feed behind pre is dropped', '<pre><b></b>\nx</pre>', 'replace b \n<i></i>'],
    ['a nested link closes the link', '<a href=x><span id=s>y</span></a>', 'append s <a href=z>w</a>'],
    [
      'the end tag of an implied row group is nowhere in the tree',
      '<table><tr></tr></tbody></table>',
      'append table <tr></tr>',
    ],
    [
      'an implied row group is no place for its own rows',
      '<table><tr id=r></tr><tr></tr></table>',
      'move r append table',
    ],
    ['frames are read otherwise', '<html><frameset><frame id=f></frameset></html>', 'after f <frame>'],
  ]
  for (const [name, source, line] of CASES) {
    it(`${name}: ${line} in ${JSON.stringify(source)}`, () => {
      const document = parseDocument('html', source)
      const done = judged(document, command(document, line))
      expect(done?.document.source).to.not.equal(source)
    })
  }
})
