/** The public surface as a Koa application. Reading the list of its steps is reading the gates of HTTP-1 in order. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type Router from '@koa/router'
import Koa from 'koa'
import { normalizeHost } from '../config/hosts.ts'
import type { Settings } from '../config/schema.ts'
import { unlessBrokenOff } from '../edge/broken-off.ts'
import { tellFindings, varyByOrigin } from '../edge/conclusion.ts'
import { answersAgain, noteRequest, type RequestLine } from '../edge/known-requests.ts'
import { authoritiesOf, header, type KnowClient } from '../edge/request.ts'
import { type BodyReading, checkDeclaredLength, requestBody } from '../edge/request-body.ts'
import { surfaceHeaders } from '../edge/security-headers.ts'
import { sendOr } from '../edge/send.ts'
import { verifiedEmail } from '../pipeline/access/principal.ts'
import type { Answer } from '../pipeline/answer.ts'
import type { Authorizing } from '../pipeline/authority.ts'
import type { Locks } from '../pipeline/coordination/locks.ts'
import type { Streams } from '../pipeline/events/streams.ts'
import { Fault } from '../pipeline/fault.ts'
import { readConditions } from '../pipeline/http/conditions.ts'
import { corsHeaders, ownFields, publicCors } from '../pipeline/http/cors.ts'
import { WRITES } from '../pipeline/http/origin.ts'
import { canonicalPath, decodeTarget, isReserved, reserved } from '../pipeline/http/path.ts'
import { type Operation, perform } from '../pipeline/operation.ts'
import { notOffered, OFFERED } from '../pipeline/refusals.ts'
import { ZERO } from '../pipeline/store/tags.ts'
import { asRequest } from '../pipeline/tree/precedence.ts'
import { oneAllowance } from '../pipeline/write/commit.ts'
import { knownAt } from '../pipeline/write/one-moment.ts'
import type { Fired } from '../pipeline/write/transitions.ts'
import type { Audit } from './audit.ts'
import { type FailureParts, failure } from './failure.ts'
import { reportRequest, type Sender, toldOf } from './finished-requests.ts'
import type { HostedSite, Hosting } from './hosting.ts'
import type { Metrics } from './metrics.ts'
import { liveModule } from './platform/live.ts'
import { referencePage } from './platform/reference.ts'
import type { Exchange } from './public/exchange.ts'
import { refuseHelper } from './public/helper-files.ts'
import { options } from './public/options.ts'
import { deliver, performReacting, performTriggered, type ReactionParts } from './public/reactions.ts'
import { get, query } from './public/reads.ts'
import { move, patch, post, put, remove } from './public/writes.ts'
import type { State, Step } from './request-state.ts'
import type { Audience, ResponseCache } from './response-cache.ts'
import { addCookie, anonymousVisitor, authorityOf, needSession, openSession, signInOrOut } from './sessions/steps.ts'
import { type BrakeContent, type BrakeWrites, writerOf } from './write-brake.ts'

export interface AppParts extends FailureParts {
  hosting: Hosting
  knowClient: KnowClient
  kept: ResponseCache
  bodies: BodyReading
  /** What the log tells of whoever writes. */
  logged: Settings['log']
  audit: Audit | undefined
  brakeWrites: BrakeWrites | undefined
  brakeContent: BrakeContent | undefined
  metrics: Metrics
  platform: Router
  streams: Streams
  locks: Locks
  reactions: ReactionParts
}

/** Reads the fields of a request (gate 7). @throws Fault where one is malformed */
type Handler = (exchange: Exchange) => Operation

const HANDLERS: Record<string, Handler> = {
  GET: get,
  HEAD: get,
  PUT: put,
  POST: post,
  DELETE: remove,
  MOVE: move,
  PATCH: patch,
  OPTIONS: options,
  QUERY: query,
}

/**
 * @returns the handler of HTTP requests; it never throws and always answers
 */
export function publicApp(parts: AppParts): (request: IncomingMessage, response: ServerResponse) => void {
  const app = new Koa<State>()
  const steps: Step[] = [
    conclude(parts),
    ...nameActor(parts),
    askPlatform(parts),
    chooseSite(parts),
    checkLength,
    readTarget,
    knowMethod,
    signInOrOut(parts.bodies.idle),
    guardReserved,
    guardHelpers,
    openSession,
    needSession,
    ...brake(parts),
    noticeEmptySite,
    tellOfDeclarations,
    dispatch(parts),
  ]
  for (const step of steps) app.use(step)
  app.on('error', unlessBrokenOff(parts.log))
  const application = app.callback()
  const reportAgain = (request: RequestLine, status: number, started: number) => report(parts, request, status, started)
  return (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      void application(request, response)
      return
    }
    const started = performance.now()
    const client = parts.knowClient(request)
    const visitor = anonymousVisitor(parts.hosting, client, request.headers.cookie)
    const status = parts.kept.repeat(request, response, client, visitor)
    if (status === undefined) void application(request, response)
    else {
      report(parts, request, status, started)
      noteRequest(request, () => answersAgain(request, parts.kept.again(request, client, visitor), reportAgain))
    }
  }
}

/** The platform's own routes, which need no site. */
function askPlatform({ platform }: AppParts): Step {
  const routes = platform.routes() as unknown as Step
  return (context, next) => {
    // The router would parse absolute-form targets with a parser of Node that is on its way out.
    return context.req.url?.startsWith('/-') ? routes(context, next) : next()
  }
}

function report(parts: AppParts, request: RequestLine, status: number, started: number, who?: Sender): void {
  reportRequest(parts, { face: 'public', request, status, milliseconds: performance.now() - started, who })
}

/** How people know somebody who is signed in. */
function userOf({ session }: State): string | undefined {
  const principal = session?.principal
  return principal && (verifiedEmail(principal) ?? principal.sub)
}

/** What a request changes is recorded with whoever sent it. */
function nameActor({ audit, logged }: AppParts): Step[] {
  if (!audit) return []
  const step: Step = ({ req, state }, next) =>
    audit.within(
      () => ({
        face: 'public',
        method: req.method ?? '',
        path: state.target?.path,
        ...toldOf(logged, { user: userOf(state), address: state.client.address, range: req.headers.range }),
      }),
      next,
    )
  return [step]
}

/** Whoever stores declarations is told that some may not say what they were meant to. */
const tellOfDeclarations: Step = ({ req, state }, next) =>
  WRITES.has(req.method ?? '') ? telling(req, state, next) : next()

async function telling(request: IncomingMessage, state: State, next: () => Promise<unknown>): Promise<void> {
  await next()
  const { hosted, target, session, answer } = state
  if (!hosted || !target || !session || !answer || answer.status >= 300) return
  const path = canonicalPath(target.path)
  if (!hosted.site.mayDeclare(path)) return
  const isWhole = request.method === 'PUT' && request.headers.range === undefined
  if (isWhole || (await mayKnowAll(authorityOf(hosted, request, target, session), path)))
    await tellFindings(answer, hosted.site, hosted.settings.brandHeader, path)
}

/** Whether somebody may write all of a document, and read it: nobody else is told of what others have declared there (SEC-6). */
async function mayKnowAll(authority: Authorizing, path: string): Promise<boolean> {
  await authority.settle?.([path])
  const decided = authority()
  return (['put', 'read'] as const).every(ask => decided.admit({ ask, path, exists: true }) === 'allow')
}

/** Whoever looks at a site that has nothing yet is told how to fill it. */
const noticeEmptySite: Step = ({ req, state }, next) =>
  req.method === 'GET' && state.target?.path === '/' ? noticing(state, next) : next()

async function noticing(state: State, next: () => Promise<unknown>): Promise<void> {
  try {
    await next()
  } catch (error) {
    // A site without documents has no rules either, so that it may refuse everybody.
    if (error instanceof Fault && (error.status === 404 || error.status === 401)) {
      const root = await state.hosted?.site.store.find('/')
      if (root && (root.members ?? ZERO) === ZERO) state.isEmpty = true
    }
    throw error
  }
}

/** Nobody writes more than a person could. */
function brake({ brakeWrites }: AppParts): Step[] {
  if (!brakeWrites) return []
  const step: Step = ({ req, state }, next) => {
    const { hosted, session, client } = state
    if (!hosted || !WRITES.has(req.method ?? '')) return next()
    return brakeWrites(writerOf(hosted, session, client)).then(next)
  }
  return [step]
}

const BEFORE_A_SITE = surfaceHeaders()

/** Runs all other steps, turns what they return or throw into an answer and sends it. */
function conclude(parts: AppParts): Step {
  return async (context, next) => {
    const { req: request, res: response, state } = context
    context.respond = false
    state.started = performance.now()
    state.afterwards = []
    state.client = parts.knowClient(request)
    let answer: Answer
    try {
      await next()
      answer = state.answer ?? failure(parts, context, new Fault(404, 'NotFound', 'Nothing is stored at this address.'))
    } catch (error) {
      answer = failure(parts, context, error)
    }
    if (answer.status > 403 && answer.status < 500) await knownAt(state.hosted?.site, state.target)
    const { hosted, client } = state
    const failed = answer.serverPage === true
    const always = (hosted?.headers ?? BEFORE_A_SITE)[client.secure ? 'secure' : 'plain']
    addMissing(answer, failed ? always.serverPages : always.answers)
    if (hosted) addCors(hosted, request, answer)
    addCookie(state, answer)
    if (!failed && hosted && (request.method === 'GET' || request.method === 'HEAD'))
      parts.kept.keep(request, client, hosted.site, answer, audienceOf(state, answer))
    if (!response.destroyed)
      await sendOr(request, response, answer, error => {
        answer = failure(parts, context, error)
        return answer
      })
    const who = { user: userOf(state), address: client.address, range: request.headers.range }
    report(parts, request, answer.status, state.started, who)
    for (const work of state.afterwards) work()
  }
}

/** What a site's reactions have set stays (REA-53). */
function addMissing({ headers }: Answer, added: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(added)) headers[name] ??= value
}

function audienceOf(state: State, answer: Answer): Audience {
  if (answer.cookieless) return 'everybody'
  return state.session?.issue === undefined ? 'returning' : 'new'
}

function addCors(hosted: HostedSite, request: IncomingMessage, answer: Answer): void {
  const { cors, brandHeader } = hosted.settings
  if (cors.length === 0) return
  varyByOrigin(answer)
  const facts = {
    method: request.method ?? '',
    origin: request.headers.origin,
    requestedMethod: header({ request }, 'access-control-request-method'),
  }
  const granted = corsHeaders(publicCors(cors, brandHeader), facts, ownFields(answer.headers, brandHeader))
  if (granted) addMissing(answer, granted)
}

function chooseSite({ hosting }: AppParts): Step {
  const open = async (state: State, next: () => Promise<unknown>) => {
    const { authority } = state.client
    state.hosted = authority === undefined ? undefined : await hosting.open(authority)
    if (state.hosted) return next()
    if (authority === undefined || normalizeHost(authority) === undefined)
      throw new Fault(400, 'BadRequest', 'The request names no host.', { headers: { Connection: 'close' } })
    throw new Fault(404, 'NotFound', 'No site is served under this host name.')
  }
  return ({ state }, next) => {
    state.hosted = state.client.authority === undefined ? undefined : hosting.opened(state.client.authority)
    return state.hosted ? next() : open(state, next)
  }
}

const checkLength: Step = ({ req, state }, next) => {
  if (state.hosted) checkDeclaredLength(req, state.hosted.settings.maxBody)
  return next()
}

const readTarget: Step = ({ req, state }, next) => {
  const { url = '/', method = 'GET' } = req
  if (url === '*' && method === 'OPTIONS') {
    state.answer = { status: 204, headers: { Allow: OFFERED, 'Cache-Control': 'no-store' } }
    return undefined
  }
  state.target = decodeTarget(url, 'public', method !== 'GET' && method !== 'HEAD' && method !== 'QUERY')
  return next()
}

const knowMethod: Step = ({ req }, next) => {
  const { method = '' } = req
  if (Object.hasOwn(HANDLERS, method)) return next()
  throw notOffered(method)
}

const guardReserved: Step = ({ req, state }, next) => {
  const { hosted, target } = state
  if (!hosted || !target || !isReserved(target.path, hosted.settings.brand)) return next()
  if (WRITES.has(req.method ?? '')) throw reserved()
  if (req.method === 'GET' || req.method === 'HEAD') {
    const conditions = readConditions(req.headers)
    state.answer =
      liveModule(hosted.settings, target.path, conditions) ?? referencePage(hosted.settings, target.path, conditions)
    if (state.answer) return undefined
  }
  if (req.method !== 'OPTIONS') throw new Fault(404, 'NotFound', 'Nothing is served at this address.')
  return next()
}

const guardHelpers: Step = ({ req, state: { hosted, target } }, next) => {
  if (hosted && target && req.method !== 'OPTIONS' && hosted.helpers.suspect.test(target.path))
    refuseHelper(hosted.helpers, target.path)
  return next()
}

function dispatch(parts: AppParts): Step {
  return async context => {
    const { req, res, state } = context
    const { hosted, target, session, client } = state
    const handler = HANDLERS[req.method ?? '']
    if (!hosted || !target || !session || !handler) return
    const authority = authorityOf(hosted, req, target, session)
    await authority.settle?.([target.path, canonicalPath(target.path), `${target.path}/`])
    const reactions = hosted.site.declarations('reactions')
    const fired: Fired[] = []
    const afterwards = (work: () => void) => void state.afterwards.push(work)
    const exchange: Exchange = {
      request: req,
      response: res,
      hosted,
      site: hosted.site,
      method: req.method ?? '',
      target,
      path: canonicalPath(target.path),
      session,
      address: client.address,
      authorities: authoritiesOf(client, req, hosted.settings.publicUrl),
      body: requestBody(parts.bodies, req, res),
      streams: parts.streams,
      locks: parts.locks,
      authority,
      allowance: oneAllowance(hosted.site),
      brakeContent: async bytes => parts.brakeContent?.(writerOf(hosted, session, client), bytes),
      transitions: {
        fired: more => {
          for (const each of more) fired.push(each)
        },
      },
      reactions,
      made: { calls: 0, writes: 0 },
      triggered: (inner, put) => performTriggered(parts.reactions, inner, put, afterwards),
    }
    const candidates = reactions.isEmpty ? undefined : reactions.candidates(exchange.method, target.path)
    state.answer = await asRequest(
      () =>
        candidates
          ? performReacting(
              parts.reactions,
              exchange,
              candidates,
              handler,
              thrown => failure(parts, context, thrown),
              afterwards,
            )
          : perform(handler(exchange), exchange.body),
      hosted.site.store.name,
    )
    if (fired.length > 0) state.afterwards.push(() => void deliver(parts.reactions, exchange, fired))
  }
}
