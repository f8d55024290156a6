/** What browsers read otherwise than the server, as in another encoding: it reads all documents as UTF-8 (MOD-94, HTTP-25). */

import { isUnambiguous, namesUtf8 } from '../http/media.ts'
import type { Registry } from '../model/registry.ts'
import type { ShapeFailure } from '../model/shape-check.ts'
import { TAKEN } from '../tree/edit/edit.ts'
import { FRAMESET } from '../tree/edit/kept-text.ts'
import { testing } from '../tree/long-text.ts'
import { isElement, rootElement, type TreeDocument } from '../tree/nodes.ts'
import { inTurns } from '../tree/steps.ts'
import { mayDeclareOther } from '../tree/xml-declaration.ts'

/** Begin another reading of what follows: UTF-16 has the one in each tag, ISO-2022-JP the other before quotes that are none. */
const SHIFTS = ['\0', '\u001b']

/**
 * Browsers read a document by the encoding that it names, be its tags what they may to the server: where those of another one may
 * come to be, a closed shape permits nothing (MOD-94).
 *
 * @param type of the document, at its path
 * @param tree undefined for a blob, of which some browsers make a document by a type such as `text/html charset=gbk`
 */
export async function readElsewhere(
  registry: Registry,
  path: string,
  type: string,
  tree: TreeDocument | undefined,
): Promise<readonly ShapeFailure[]> {
  if (!registry.isClosed(path)) return []
  if (!tree)
    return isUnambiguous(withoutLateCommas(type))
      ? []
      : [failure('Browsers may take this for a document: its type can be read in several ways')]
  const { kind, source } = tree
  if (kind === 'html' && (await inTurns(testing(FRAMESET, source), source.length)) && !holdsFrameset(tree))
    return [failure('Some browsers take a <frameset> here for the body of the page')]
  const hasCdata = source.includes('<![CDATA[')
  const mayShift = SHIFTS.some(shift => source.includes(shift))
  if (!mayShift && !(hasCdata && (await inTurns(testing(TAKEN, source), source.length)))) return []
  // What is no UTF-8 has come to be U+FFFD, and is served without a charset.
  if (!source.includes('\ufffd') && !mayNameOther(kind, source, type)) return []
  return [
    failure('Browsers may read this document in another encoding, with other elements; a closed shape needs UTF-8'),
  ]
}

/** Behind commas among parameters (`video/webm;codecs=vp8,opus`) no reader finds another type where no slash follows. */
function withoutLateCommas(type: string): string {
  const from = type.indexOf(';')
  const parameters = type.slice(from)
  return from < 0 || parameters.includes('/') ? type : type.slice(0, from) + parameters.replaceAll(',', '.')
}

function failure(message: string): ShapeFailure {
  return { scope: ':root', constraint: 'permit', message }
}

/** Whether the place of the body has one, which permits judge. */
function holdsFrameset(tree: TreeDocument): boolean {
  return rootElement(tree)?.childNodes.some(node => isElement(node) && node.tagName === 'frameset') ?? false
}

/** Whether some reader may find another encoding named: HTML is served with a charset where its type has none. */
function mayNameOther(kind: TreeDocument['kind'], source: string, type: string): boolean {
  const named = namesUtf8(type)
  return named === undefined || (kind === 'xml' && !named && mayDeclareOther(source))
}
