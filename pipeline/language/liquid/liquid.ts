/** The Liquid dialect: what a template host renders (LIQ-1 to LIQ-71). */

import { Compiled } from '../../compiled.ts'
import { ownText } from '../../own-text.ts'
import { asciiLower } from '../../tree/ascii.ts'
import { atOnce, type Steps } from '../../tree/steps.ts'
import type { Allowance } from '../allowance.ts'
import { TemplateError } from './error.ts'
import { parsing } from './parse.ts'
import type { MarkupContext } from './place.ts'
import { rendering } from './render.ts'
import { Run } from './run.ts'
import type { LiquidScope } from './scope.ts'
import type { Template } from './template.ts'
import { doing } from './work.ts'

export { TemplateError } from './error.ts'
export { findingHosts, type HostSearch, type TemplateHost, withoutSources } from './hosts.ts'
export type { MarkupContext } from './place.ts'
export type { LiquidScope } from './scope.ts'
export type { Template } from './template.ts'

/** Templates by source and context. */
const templates = new Compiled<Template>()

/**
 * The template of a source; a source that was read lately is not read again.
 *
 * @param source text between the host's start and end tag
 * @param context the host, as `TemplateHost` has it
 * @throws TemplateError with the line in the source (LIQ-64)
 */
export function compileTemplate(source: string, context: MarkupContext): Template {
  return atOnce(compilingTemplate(source, context))
}

/** `compileTemplate` in steps. */
export function* compilingTemplate(source: string, context: MarkupContext): Steps<Template> {
  // No name of an element has a slash.
  const key = `${context.kind} ${context.foreign ? '/' : asciiLower(context.element ?? '')} ${source}`
  const known = templates.use(key)
  if (known) return known
  const template = yield* parsing(ownText(source), context)
  // Text takes little more than itself, a word some 60 to 150 bytes: an output or a tag may have thousands.
  return templates.keep(ownText(key), template, 700 + 2 * key.length + 150 * template.words)
}

/**
 * Renders a template. Short ones that wait for nothing are rendered at once; others take turns with other work.
 *
 * Trees of the values are read until it is done: they must not be edited meanwhile.
 *
 * @returns markup to parse in the context of the host
 * @throws TemplateError for control flow that cannot be decided (LIQ-61), AllowanceSpent (LIQ-71), and what the scope throws
 */
export function renderTemplate(template: Template, scope: LiquidScope, allowance: Allowance): string | Promise<string> {
  return doing(rendering(template, new Run(scope, allowance)))
}

/** The error with its line counted in the document that holds the source. */
export function inDocument(error: TemplateError, firstLine: number): TemplateError {
  return new TemplateError(error.message, error.line + firstLine - 1)
}
