/** Triggers and processors around core processing (REA-10, REA-20 to REA-31, REA-54, REA-73). */

import type { Answer } from '../answer.ts'
import { Fault } from '../fault.ts'
import type { Allowance } from '../language/allowance.ts'
import type { RawCode } from '../model/declarations.ts'
import type { AddressedElements, Admitted, Reactions } from '../operation.ts'
import type { RequestValue } from '../request-value.ts'
import type { Site } from '../site/site.ts'
import { TurnsBetween } from '../tree/steps.ts'
import type { KeptBody } from './body.ts'
import { callFrom, type OutboundCall } from './calls.ts'
import { type CodeSite, type Ran, type ReactionLanguage, Responded, resultOf } from './code.ts'
import { ContextValue, mayReadBody, ReactionRequest, ResponseValue } from './context.ts'
import type { RawAction, RawValue } from './declared/extract.ts'
import { type Candidates, fitsStatus, type Reaction } from './declared/reactions.ts'
import { selecting } from './filters.ts'
import { thrownAnswer } from './thrown.ts'

/** One request with reactions. */
export interface ReactingRequest {
  site: Site
  candidates: Candidates
  /** Canonical path of the target. */
  path: string
  /** Whether its `Range` has a selector. */
  hasSelector: boolean
  /** The request as code sees it, without its body. */
  request: () => Promise<RequestValue>
  body: KeptBody
  /** Counts bytes that are held in memory until the answer has left (SEC-12); Fault 503 when there is no room. */
  hold: (bytes: number) => void
  allowance: Allowance
  /** Name of the server's own cookie. */
  sessionCookie: string
  languages: (phase: Phase) => readonly ReactionLanguage[]
  /** Outbound requests that it may queue (REA-95). */
  mostCalls: number
  /** Those that it has queued so far. */
  made: { calls: number }
  /** Takes an outbound request. */
  queue: (call: OutboundCall) => void
  /** A failure as the answer that it would be. */
  toAnswer: (failure: unknown) => Answer
  report: (message: string, details: object) => void
  /** Told of reactions whose actions run. */
  acts?: (reaction: Reaction) => void
}

export type Phase = 'trigger' | 'processor'

/** Bytes of the body of one. */
const LARGEST_CALL = 1024 * 1024

/** @returns what runs around the core processing of one request */
export function reactionsTo(request: ReactingRequest): Reactions {
  const chain = new Chain(request)
  return {
    actsBefore: chain.actsBefore,
    before: (admitted, body) => chain.before(admitted, body as KeptBody),
    guard: chain.isGuarding ? addressed => chain.guard(addressed) : undefined,
    after: answer => chain.after(answer),
    toAnswer: request.toAnswer,
  }
}

class Chain {
  readonly #request: ReactingRequest
  #context: ContextValue | undefined
  /** Reactions with a selector that the request's element fits (REA-23); nothing is in it before triggers ran. */
  #selected: ReadonlySet<Reaction> = new Set()
  /** Between pieces of code, however many a site has. */
  #turns = new TurnsBetween()

  constructor(request: ReactingRequest) {
    this.#request = request
  }

  /** Whether triggers may run, or processors ask for the element of the request as it is at arrival (REA-23). */
  get actsBefore(): boolean {
    const { candidates, hasSelector } = this.#request
    if (candidates.triggers.length > 0) return true
    return hasSelector && candidates.processors.some(({ selectors }) => selectors !== undefined)
  }

  async before({ addressed }: Admitted, body: KeptBody): Promise<{ body: KeptBody } | { answer: Answer } | undefined> {
    const { site, candidates, path, hasSelector } = this.#request
    const { triggers, processors } = candidates
    if (addressed && hasSelector) {
      const selected = await selecting(site, path, addressed, [...triggers, ...processors])
      if (!selected) return undefined
      this.#selected = selected
    }
    const answer = await this.#answered(async () => {
      for (const trigger of triggers) if (this.#fits(trigger)) await this.#run(trigger, 'trigger')
    })
    return answer ? { answer } : { body }
  }

  get isGuarding(): boolean {
    const { candidates, hasSelector } = this.#request
    return hasSelector && candidates.triggers.some(({ selectors }) => selectors !== undefined)
  }

  /**
   * What is found when the request is carried out may be another element than triggers have been asked about (REA-23), also where
   * one of them has changed the document itself: others may have, too.
   */
  async guard(addressed: AddressedElements): Promise<boolean> {
    const { site, candidates, path } = this.#request
    const selected = await selecting(site, path, addressed, candidates.triggers)
    if (!selected) return false
    if ([...selected].every(trigger => this.#selected.has(trigger))) return true
    const message = 'Another write has changed meanwhile what the request is about. Try again in a moment.'
    throw new Fault(503, 'Unavailable', message, { headers: { 'Retry-After': '1' } })
  }

  async after(answer: Answer): Promise<Answer> {
    const { candidates, allowance, sessionCookie } = this.#request
    const { processors } = candidates
    const runs = (processor: Reaction, status: number) => fitsStatus(processor, status) && this.#fits(processor)
    if (!processors.some(processor => runs(processor, answer.status))) return answer
    const response = new ResponseValue(answer, allowance, sessionCookie)
    const thrown = await this.#answered(async () => {
      for (const processor of processors)
        if (runs(processor, response.status)) await this.#run(processor, 'processor', response)
    })
    if (thrown) return thrown
    if (this.#context?.request.isPrivate) response.becomePersonal()
    return response.answer
  }

  /** The response that a phase has thrown, which ends it (REA-54). */
  async #answered(phase: () => Promise<void>): Promise<Answer | undefined> {
    this.#turns = new TurnsBetween()
    try {
      await phase()
      return undefined
    } catch (error) {
      if (error instanceof Responded) return thrownAnswer(error.response, this.#request.sessionCookie)
      throw error
    }
  }

  /** REA-23: without a selector in the request the filter is skipped. */
  #fits(reaction: Reaction): boolean {
    if (reaction.selectors === undefined || !this.#request.hasSelector) return true
    return this.#selected.has(reaction)
  }

  async #run(reaction: Reaction, phase: Phase, response?: ResponseValue): Promise<void> {
    const context = await this.#contextFor(response)
    try {
      await this.#carryOut(reaction, phase, context, response)
    } catch (error) {
      // What the code says of itself may quote the request; the answer has it.
      const failure = error instanceof Fault ? error.details.failure : undefined
      if (failure) {
        const { path, kind, place } = reaction
        this.#request.report('A reaction has failed', {
          document: path,
          kind,
          place: place + 1,
          variant: failure.variant,
        })
      }
      throw error
    }
  }

  async #carryOut(reaction: Reaction, phase: Phase, context: ContextValue, response?: ResponseValue): Promise<void> {
    const at = (code: RawCode): CodeSite => ({ code, context, path: reaction.path })
    let isOpen = true
    for (const code of reaction.when) {
      if (!isOpen) break
      isOpen = await this.#ask(phase, code, language => language.gate(at(code)), response)
    }
    if (isOpen) this.#request.acts?.(reaction)
    const actions = isOpen ? reaction.action : reaction.otherwise
    for (const action of actions) await this.#act(phase, action, at, response)
  }

  async #contextFor(response: ResponseValue | undefined): Promise<ContextValue> {
    const { request, body, allowance } = this.#request
    if (!this.#context) {
      // What core processing could not read cannot be shown either.
      await (response ? body.read().catch(() => undefined) : body.read())
      this.#context = new ContextValue(new ReactionRequest(await request(), body, allowance))
    }
    this.#context.response = response
    return this.#context
  }

  async #act(
    phase: Phase,
    action: RawAction,
    at: (code: RawCode) => CodeSite,
    response: ResponseValue | undefined,
  ): Promise<void> {
    if (!('properties' in action)) return this.#ask(phase, action, language => language.action(at(action)), response)
    const evaluate = async (value: RawValue) =>
      typeof value === 'string' ? value : this.#ask(phase, value, language => language.property(at(value)), response)
    const call = await callFrom(action, evaluate)
    const { queue, mostCalls, made, report } = this.#request
    if ('dropped' in call) {
      report('An outbound request is left out', { reason: call.dropped })
      return
    }
    made.calls++
    if (made.calls > mostCalls)
      throw new Fault(500, 'BindingFailure', `A request may queue ${mostCalls} outbound requests here, no more.`)
    if (Buffer.byteLength(call.body) > LARGEST_CALL)
      throw new Fault(500, 'BindingFailure', 'The body of an outbound request is larger than 1 MiB.')
    queue(call)
  }

  async #ask<T>(
    phase: Phase,
    code: RawCode,
    run: (language: ReactionLanguage) => Promise<Ran<T>>,
    response: ResponseValue | undefined,
  ): Promise<T> {
    await this.#turns.next()
    if (response && mayReadBody(code.source, 'response')) await response.load(this.#request.hold)
    const language = this.#request.languages(phase).find(each => each.speaks(code.type))
    if (!language) {
      const message = `Code of type ${code.type} cannot be run here.`
      return resultOf({ failure: { language: code.type, variant: 'unknown-language', message } })
    }
    return resultOf(await run(language), code.source)
  }
}
