/** What tests of composed pages share: vocabulary prefixes and sites put together in one line. */

import type { Viewer } from '../../../pipeline/compose/viewer.ts'
import { NS } from '../../support/content.ts'
import { unhurried } from '../../support/unhurried.ts'

/** Declarations of the usual prefixes. */
export const PREFIXES = `xmlns:p="${NS}/1.0" xmlns:r="${NS}/Binding/CSS" xmlns:e="${NS}/Binding/Sessel" xmlns:j="${NS}/Binding/JavaScript"`

/** A page with the usual prefixes declared on its root. */
export function composed(body: string, head = '<title>t</title>'): string {
  return `<!doctype html><html ${PREFIXES}><head>${head}</head><body>${body}</body></html>`
}

/** The same page as it is served once its directives are gone. */
export function served(body: string, head = '<title>t</title>'): string {
  return `<!DOCTYPE html><html><head>${head}</head><body>${body}</body></html>`
}

/** Nobody in particular, who asks for a path and has no session. */
export function anonymousViewer(path: string, query?: string): Viewer {
  return {
    path,
    method: 'GET',
    query,
    headers: () => new Map(),
    principal: undefined,
    roles: () => [],
    body: undefined,
    session: undefined,
    allowance: unhurried(),
  }
}
