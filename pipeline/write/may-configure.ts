/** Keeps those who may write files, but not configure the site, from doing so by the files that they write (SEC-10). */

import { KIND_NAMES, KINDS } from '../declarations/kinds.ts'
import { Fault } from '../fault.ts'
import { kindOf, storedType } from '../http/media.ts'
import type { Site, WrittenDocument } from '../site/site.ts'
import type { Change } from '../store/commit.ts'
import { decode, parsingDocument } from '../tree/document.ts'
import { typesOf } from '../tree/microdata.ts'
import { type ChildNode, isElement, type TreeDocument } from '../tree/nodes.ts'
import { writingMarkup } from '../tree/serialize.ts'
import { inTurns, NODES_PER_STEP, type Steps } from '../tree/steps.ts'
import { configures } from './configuration.ts'

/** Configuration items of a document that stand in no other one: their types and their markup. */
type Items = readonly { type: string; markup: string }[]

/**
 * @param changes what a write changes by itself
 * @param written the documents that it puts
 * @throws Fault 403 where a configuration item would come, go or change; it names the item
 */
export async function refuseConfiguring(
  site: Site,
  changes: readonly Change[],
  written: readonly WrittenDocument[],
): Promise<void> {
  for (const change of changes) {
    if (change.op === 'put') await refuseChanged(site, change.path, change.path, written)
    else if (change.op === 'delete') await refuseLost(site, change.path)
    else if (change.op === 'move' || change.op === 'copy') {
      await refuseLost(site, change.to)
      if (change.op === 'copy') await refuseLost(site, change.from)
      else await refuseChanged(site, change.from, change.to, written)
    }
  }
}

/** A new version of a document must hold the same items, and declare the same by them. */
async function refuseChanged(site: Site, from: string, to: string, written: readonly WrittenDocument[]): Promise<void> {
  const after = written.find(({ path }) => path === to)
  if (!after) return
  const before = await itemsAt(site, from)
  const now = configures(site, after.profile?.types ?? []) ? await itemsOf(site, await parsed(to, after)) : []
  const changed = now.find(({ markup }, at) => markup !== before[at]?.markup) ?? before[now.length]
  if (changed) throw mayNotConfigure(to, changed.type)
  for (const name of KIND_NAMES) {
    const same = KINDS[name].sameAsWritten(after.declares[name], site.declarations(name).document(from))
    if (!same) throw mayNotConfigure(to, name)
  }
}

async function refuseLost(site: Site, path: string): Promise<void> {
  for (const name of KIND_NAMES) {
    const [document] = site.declarations(name).documentsUnder(path)
    if (document !== undefined) throw mayNotConfigure(document, name)
  }
  const [item] = path.endsWith('/') ? [] : await itemsAt(site, path)
  if (item) throw mayNotConfigure(path, item.type)
}

async function itemsAt(site: Site, path: string): Promise<Items> {
  const held = await site.find(path)
  if (!held?.isDocument || !configures(site, held.profile?.types ?? [])) return []
  return itemsOf(site, await site.parsed(held))
}

function itemsOf(site: Site, document: TreeDocument): Promise<Items> {
  return inTurns(finding(site, document), document.source.length)
}

function* finding(site: Site, { root, kind }: TreeDocument): Steps<Items> {
  const found: { type: string; markup: string }[] = []
  const open: ChildNode[] = [...root.childNodes].reverse()
  let seen = 0
  for (let node = open.pop(); node; node = open.pop()) {
    if (!isElement(node)) continue
    if (++seen % NODES_PER_STEP === 0) yield
    const type = typesOf(node).find(each => configures(site, [each]))
    if (type !== undefined) found.push({ type, markup: yield* writingMarkup(node, kind) })
    else for (let at = node.childNodes.length - 1; at >= 0; at--) open.push(node.childNodes[at] as ChildNode)
  }
  return found
}

function parsed(path: string, { bytes }: WrittenDocument): Promise<TreeDocument> {
  const { text } = decode(bytes)
  const isXml = kindOf(storedType(path, undefined)) === 'xml' || text.startsWith('<?xml')
  return inTurns(parsingDocument(isXml ? 'xml' : 'html', text), text.length)
}

function mayNotConfigure(path: string, what: string): Fault {
  return new Fault(
    403,
    'Forbidden',
    `Your credentials may write here but not configure the site, and this write touches ${what} in ${path}.`,
  )
}
