/** Directives that a write of an element would bring into a page (COMP-147). */

import { type Authority, mayPut } from '../authority.ts'
import { type Gained, gainedByEdit } from '../compose/gained.ts'
import { introducesDirectives, isReadOtherwise } from '../compose/introduced.ts'
import { changesTemplate, findingTemplatesOf } from '../compose/page.ts'
import { Fault } from '../fault.ts'
import { mayHaveHosts } from '../language/liquid/hosts.ts'
import type { Registry } from '../model/registry.ts'
import type { Site } from '../site/site.ts'
import type { Edit, ProposedEdit, View } from '../tree/edit/edit.ts'
import { mayTakeIn } from '../tree/edit/kept-text.ts'
import { type ElementNode, isElement } from '../tree/nodes.ts'
import { findingPrefixed } from '../tree/prefixed-parser.ts'
import type { Steps } from '../tree/steps.ts'
import { isInTemplate } from '../tree/template-hosts.ts'
import { isSameWithoutSources } from './beside-templates.ts'
import type { ElementWrite, Located } from './element-target.ts'

/**
 * Whoever may only write to a part of a page must not read the site through it: what composition would run needs the right
 * to PUT the whole of the page, or of the document where it lands (COMP-147). So does what composition alone would show. What
 * nobody can judge is written by nobody where a shape is closed (MOD-94).
 *
 * @param edit as it was asked for, with the text of the document without it, and the element whose children it changes
 * @throws Fault 422
 */
export function* checkingDirectives(
  site: Site,
  write: ElementWrite,
  located: Located,
  edit: { wanted: Edit; before: string; proposal: ProposedEdit; view: View; place: ElementNode | undefined },
  registry: Registry,
  authority: Authority,
): Steps<void> {
  const { path } = located.file.resource
  const { before, proposal, place } = edit
  const { document, nodes, parents, reread } = edit.view
  const isFree = mayPut(authority, write.path) || mayPut(authority, path)
  if (isFree && !write.isMade && !registry.isClosed(path) && !registry.isClosed(write.path)) return
  const { ns } = site.settings
  // Where templates end composition alone tells.
  const templates = !isFree && mayHaveHosts(before) ? yield* findingTemplatesOf(ns, located, before) : []
  const isInside = yield* changesTemplate(ns, document.kind, templates, before, proposal)
  if (templates.some(({ isBroken }) => isBroken))
    if (!(yield* isSameWithoutSources(site.model, located.tree, { wanted: edit.wanted, before, templates, proposal })))
      throw new Fault(422, 'InvalidFragment', NEEDS_PUT.broken)
  if (write.op === 'delete' && !reread && !isInside) return
  const seen = yield* introducesDirectives(site.model, document, nodes, parents)
  let mayHide = false
  if (document.kind === 'html') for (const { text } of proposal.changes) mayHide ||= yield* findingPrefixed(text)
  // What is moved may have been a directive before.
  const isNew = isInside || (write.op === 'move' ? parents.some(parent => isInTemplate(parent, ns)) : seen)
  if (write.isMade && (seen || mayHide) && parents.some(parent => isReadOtherwise(parent, ns)))
    throw new Fault(422, 'InvalidFragment', 'What code has made for this place would be read in another way there.')
  // What stands beside may have been text before.
  if (isFree ? !mayHide : !isNew && !seen && !mayHide && !reread) return
  const gained = isFree
    ? undefined
    : isNew
      ? 'directive'
      : yield* gainedByEdit(site.model, document.kind, before, proposal.source)
  if (gained) throw new Fault(422, 'InvalidFragment', NEEDS_PUT[gained])
  if (!mayHide) return
  // What is replaced stands nowhere in the tree as it would be.
  const places = [place, ...parents].filter(node => node !== undefined).filter(isElement)
  for (const { text } of proposal.changes)
    if (yield* mayTakeIn(text, places, document)) throw new Fault(422, 'InvalidFragment', NEEDS_PUT.select)
}

const NEEDS_PUT: Readonly<Record<Gained | 'select' | 'broken', string>> = {
  directive: 'This fragment holds directives of composed pages; that needs the right to PUT the whole document.',
  place:
    'This fragment holds elements that composed pages show where HTML has none; that needs the right to PUT the whole document.',
  broken:
    'Markup in Liquid ends a template of this page early, and without it this would be read otherwise; that needs the right to PUT the whole document.',
  select: 'Browsers would take what follows into this `select`; that needs the right to PUT the whole document.',
}
