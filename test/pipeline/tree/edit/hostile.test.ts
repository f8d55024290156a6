import { expect } from 'chai'
import { parseDocument } from '../../../../pipeline/tree/document.ts'
import { EditError, edit, editing, type Way } from '../../../../pipeline/tree/edit/edit.ts'
import type { DocumentKind } from '../../../../pipeline/tree/nodes.ts'
import { atOnce } from '../../../../pipeline/tree/steps.ts'
import { takesLess } from '../../../support/cost.ts'
import { command } from './command.ts'

function times(text: string, count: number): string {
  return text.repeat(count)
}

/** Milliseconds that a quadratic step would not end in: all take some tens of them, mostly for parsing. */
const ENOUGH = 5_000

describe('Hostile documents and fragments are edited in linear time', () => {
  const CASES: [name: string, line: string, source: string, way: Way | EditError['reason'], kind?: DocumentKind][] = [
    ['siblings', 'prepend u <li>y</li>', `<ul id=u>${times('<li>x</li>', 50_000)}</ul>`, 'splice'],
    ['open siblings', 'append u y', `<ul id=u>${times('<li>x', 50_000)}</ul>`, 'closed'],
    ['text and comments', 'append u y', `<div id=u>${times('x<!---->', 50_000)}</div>`, 'splice'],
    ['comments behind the body', 'append u y', `<body><p id=u>x</body>${times('<!---->\n', 50_000)}</html>`, 'splice'],
    ['ends of the body', 'append u y', `<body><p id=u>x</p>${times('</body>\n', 50_000)}</html>`, 'splice'],
    ['ends of comments', 'append u y', `<body><p id=u>x</p>${times('-->', 100_000)}</html>`, 'splice'],
    ['starts of the body', 'append u y', `<body><p id=u>x</p>${times('<body a>', 50_000)}`, 'splice'],
    ['white space', 'append body x', `<body>${times(' \n', 200_000)}</body>`, 'splice'],
    ['depth', 'append p y', `${times('<div>', 500)}<p>`, 'splice'],
    ['depth that nothing writes', 'append p <p>y', `${times('<div>', 500)}<p></p>${times('</div>', 500)}`, 'reparsed'],
    [
      'depth that ancestors write',
      'remove i',
      `${times('<div>', 500)}<p>&am<i></i>p;</p>${times('</div>', 500)}`,
      'ancestor',
    ],
    ['misnested', 'append u <p>y', `${times('<b>x<p>y</b></p>', 5_000)}<p id=u></p>`, 'reparsed'],
    ['many nodes', `append u ${times('<br>', 50_000)}`, '<p id=u></p>', 'splice'],
    ['multiplying fragment', `append u ${times('<b><i><p>', 5_000)}`, '<div id=u></div>', 'too-many-elements'],
    [
      'multiplying attributes',
      `append u <p><b class="${times('x', 10_000)}">${times('<p>x', 200)}`,
      '<div id=u></div>',
      'too-many-elements',
    ],
    ['XML siblings', 'append r <b/>', `<r>${times('<a/>', 50_000)}</r>`, 'splice', 'xml'],
    ['XML depth', 'append u >', `${times('<d>', 500)}<u>]]</u>${times('</d>', 500)}`, 'normalised', 'xml'],
  ]
  for (const [name, line, source, way, kind = 'html'] of CASES) {
    it(`${name}: ${way}`, () =>
      takesLess(ENOUGH, () => {
        const document = parseDocument(kind, source)
        const wanted = command(document, line)
        try {
          const proposed = edit(document, wanted)
          expect(proposed.way).to.equal(way)
          atOnce(proposed.accepting())
        } catch (error) {
          if (!(error instanceof EditError)) throw error
          expect(error.reason).to.equal(way)
        }
      }))
  }
})

describe('Edits among many siblings that read all of them anew', () => {
  const many = times('<i></i>', 2_000)
  for (const [where, source] of [
    ['before', `${many}<p id=p>x</p>`],
    ['behind', `<p id=p>x</p>${many}`],
  ] as const)
    it(`take a step for each of those ${where} the place`, () => {
      const document = parseDocument('html', `<!doctype html><body>${source}`)
      const work = editing(document, command(document, 'append p <div>y'))
      let steps = 0
      for (let step = work.next(); !step.done; step = work.next()) steps++
      expect(steps).to.be.at.least(2_000)
    })
})
