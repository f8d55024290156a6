/** The authoring mount as a Koa application. Reading the list of its steps is reading DAV-44 in order. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import Koa from 'koa'
import type { SiteSettings } from '../config/sites.ts'
import { unlessBrokenOff } from '../edge/broken-off.ts'
import { faultFor, tellFindings } from '../edge/conclusion.ts'
import { answersAgain, noteRequest, type RequestLine } from '../edge/known-requests.ts'
import { authoritiesOf, type Client, type KnowClient } from '../edge/request.ts'
import { type BodyReading, checkDeclaredLength, piecesOf, requestBody } from '../edge/request-body.ts'
import { siteSecurityHeaders } from '../edge/security-headers.ts'
import { sendOr } from '../edge/send.ts'
import type { Answer } from '../pipeline/answer.ts'
import { Fault } from '../pipeline/fault.ts'
import { canonicalPath, decodeTarget, reserved } from '../pipeline/http/path.ts'
import type { Memory } from '../pipeline/memory.ts'
import { asRequest } from '../pipeline/tree/precedence.ts'
import { oneAllowance } from '../pipeline/write/commit.ts'
import { type Author, challenge, isOfficeProbe, requireKnown } from './access/credentials.ts'
import { isRawWrite } from './access/scope-authority.ts'
import { decidedKnown, TELL_ABSENCE } from './access/visibility.ts'
import { ancestor } from './answers/ancestors.ts'
import { addCors, OWN_PAGES, type PublicAuthority, preflight, publicOrigin } from './answers/cors.ts'
import { errorAnswer } from './answers/error-answer.ts'
import { judgeIf } from './conditions/if-gate.ts'
import type { Exchange, Handler } from './exchange.ts'
import { isServerOwned } from './locks/guard.ts'
import { copy, move } from './methods/copy-move.ts'
import { remove } from './methods/delete.ts'
import { explainAccess, explainPath } from './methods/explain.ts'
import { get } from './methods/get.ts'
import { lock } from './methods/lock.ts'
import { mkcol } from './methods/mkcol.ts'
import { ALLOW, DAV_HEADERS, options } from './methods/options.ts'
import { post } from './methods/post.ts'
import { propfind } from './methods/propfind.ts'
import { proppatch } from './methods/proppatch.ts'
import { put } from './methods/put.ts'
import { query } from './methods/query.ts'
import { report } from './methods/report.ts'
import { unlock } from './methods/unlock.ts'
import type { Mount } from './mount.ts'
import { OtherAnswer } from './requests/acting.ts'
import { asksBehind } from './requests/body-checks.ts'
import { withoutPrefix } from './requests/destination.ts'
import { createResponseCache, type MountsByHost, type ResponseCache } from './response-cache.ts'
import { type MountTriggers, withTriggers } from './triggers.ts'

/** One finished request, for log and metrics. */
export interface Finished {
  request: RequestLine
  status: number
  milliseconds: number
  /** Whose credential it brought, and from where it came; absent for repeated reads. */
  user?: string | undefined
  address?: string
}

/** A request as the record of changes names it; what is found out later is asked for. */
export interface Acting {
  request: IncomingMessage
  path: () => string | undefined
  user: () => string | undefined
  address: string
}

/** What the application needs from the server around it. */
export interface MountParts {
  mounts: MountsByHost
  /** Path under which mounts answer, without slash at its end; empty where they have origins of their own. */
  prefix: string
  memory: Memory
  knowClient: KnowClient
  bodies: BodyReading
  /** Where the public surface is, whose pages may use the mount (DAV-5). */
  publicAuthority: PublicAuthority
  finished: (finished: Finished) => void
  /** Has what some work changes recorded with a request. */
  within?: (<Result>(acting: Acting, work: () => Result) => Result) | undefined
  failed: (error: unknown, message: string) => void
  /** Triggers of sites that want them here, too (REA-6). */
  triggers?: MountTriggers
  /** Vocabulary of failures before a site is found. */
  fallback: Pick<SiteSettings, 'ns' | 'errorNs'>
}

/** What the steps find out about a request, one after another. */
interface State {
  client: Client
  mount?: Mount
  /** Decoded path of the target, with the prefix. */
  target?: string
  author?: Author
  path?: string
  submitted?: ReadonlySet<string>
  lookAgain?: Exchange['lookAgain']
  answer?: Answer
  afterwards: (() => void)[]
}

type Step = Koa.Middleware<State>

const HANDLERS: Readonly<Record<string, Handler>> = {
  OPTIONS: options,
  GET: get,
  HEAD: get,
  PUT: put,
  POST: post,
  DELETE: remove,
  PROPFIND: propfind,
  PROPPATCH: proppatch,
  MKCOL: mkcol,
  COPY: copy,
  MOVE: move,
  LOCK: lock,
  UNLOCK: unlock,
  QUERY: query,
  REPORT: report,
}

/** Methods that change nothing. */
const READS = new Set(['GET', 'HEAD', 'PROPFIND', 'QUERY', 'REPORT'])

/**
 * @returns the handler of HTTP requests; it never throws and always answers
 */
export function mountApp(parts: MountParts): (request: IncomingMessage, response: ServerResponse) => void {
  const app = new Koa<State>()
  const cache = createResponseCache({
    mounts: parts.mounts,
    bodyOf: (request, response) => requestBody(parts.bodies, request, response),
    most: parts.memory.share('mount-answers'),
  })
  parts.memory.hold('mount-answers', cache.memory)
  const steps: Step[] = [
    conclude(parts, cache),
    nameActor(parts),
    chooseMount(parts.mounts),
    answerPreflight(parts),
    authenticate,
    readTarget(parts),
    explainRules,
    guardReserved,
    checkLength,
    knowMethod,
    judgeConditions,
    tellOfDeclarations,
    dispatch(parts, cache),
  ]
  for (const step of steps) app.use(step)
  app.on('error', unlessBrokenOff({ error: ({ err }, message) => parts.failed(err, message) }))
  const application = app.callback()
  const finished = (request: RequestLine, status: number, started: number) =>
    parts.finished({ request, status, milliseconds: performance.now() - started })
  return (request, response) => {
    const started = performance.now()
    const client = parts.knowClient(request)
    const done = (status: number | undefined) => {
      if (status === undefined) {
        void application(request, response)
        return
      }
      finished(request, status, started)
      noteRequest(request, () => answersAgain(request, cache.again(request, client), finished))
    }
    const repeated = cache.repeat(request, response, client)
    if (repeated instanceof Promise) repeated.then(done, () => done(undefined))
    else done(repeated)
  }
}

/** Runs all other steps, turns what they return or throw into an answer and sends it. */
function conclude(parts: MountParts, { keep }: ResponseCache): Step {
  const securityOf = siteSecurityHeaders()
  return async (context, next) => {
    const { req: request, res: response, state } = context
    const started = performance.now()
    context.respond = false
    state.client = parts.knowClient(request)
    state.afterwards = []
    let answer: Answer
    try {
      await next()
      answer = state.answer ?? failure(parts, context, new Fault(404, 'NotFound', 'Nothing is stored at this address.'))
    } catch (error) {
      answer = failure(parts, context, error)
    }
    if (answer.status >= 400 || TELL_ABSENCE.has(request.method ?? '')) await decidedKnown(state)
    const { mount, client, author } = state
    const security = securityOf(mount?.settings, client.secure, false)
    answer.headers = { ...security, ...DAV_HEADERS, ...OWN_PAGES, ...answer.headers }
    if (mount)
      addCors(request, answer, publicOrigin(mount.settings, client, parts.publicAuthority), mount.settings.brandHeader)
    // Sites of hosts that clients invent would be kept with their answers when they are closed.
    if (mount && author && !mount.site.awaitsFiles) keep(request, client, mount, author, answer)
    if (!response.destroyed)
      await sendOr(request, response, answer, error => {
        answer = failure(parts, context, error)
        return answer
      })
    const milliseconds = performance.now() - started
    parts.finished({ request, status: answer.status, milliseconds, user: author?.user, address: client.address })
    for (const work of state.afterwards) work()
  }
}

function nameActor({ within }: MountParts): Step {
  if (!within) return (_context, next) => next()
  return ({ req: request, state }, next) => {
    const { address } = state.client
    return within({ request, path: () => state.path, user: () => state.author?.user, address }, next)
  }
}

function failure(parts: MountParts, context: Koa.ParameterizedContext<State>, thrown: unknown): Answer {
  const { mount } = context.state
  const { ns, errorNs } = mount?.settings ?? parts.fallback
  const { accept } = context.req.headers
  const { path, author } = context.state
  const folder = author && path !== undefined ? path.slice(0, path.lastIndexOf('/') + 1) : undefined
  return errorAnswer(faultFor(thrown, parts.failed, 507), { ns, errorNs, prefix: parts.prefix, accept, folder })
}

function chooseMount(mounts: MountsByHost): Step {
  return async ({ state }, next) => {
    const { authority = '' } = state.client
    if (authority === '')
      throw new Fault(400, 'BadRequest', 'The request names no host.', { headers: { Connection: 'close' } })
    const mount = await mounts.open(authority)
    if (!mount) throw new Fault(404, 'NotFound', 'No site is served under this host name.')
    state.mount = mount
    return next()
  }
}

/** Pages of the site may publish from the browser; browsers ask first, without credentials (DAV-5). */
function answerPreflight({ publicAuthority }: MountParts): Step {
  return ({ req, state }, next) => {
    const { mount, client } = state
    const answer = mount && preflight(req, publicOrigin(mount.settings, client, publicAuthority))
    if (!answer) return next()
    state.answer = answer
    return undefined
  }
}

const authenticate: Step = async ({ req, state }, next) => {
  const { mount, client } = state
  if (!mount) return
  const author = mount.gatekeeper.author(req.headers.authorization, client.address)
  state.author = author instanceof Promise ? await author : author
  if (state.author) return next()
  if (!isOfficeProbe(req)) throw challenge()
  state.answer = req.method === 'HEAD' ? { status: 200, headers: { 'Cache-Control': 'no-store' } } : await options()
}

/** The path of the request, relative to the mount. Above the mount there is only the way to it (DAV-2). */
function readTarget({ prefix }: MountParts): Step {
  return async ({ req, state }, next) => {
    const { url = '/', method = '' } = req
    if (url === '*' && method === 'OPTIONS') {
      state.answer = await options()
      return
    }
    const { path: target } = decodeTarget(url, 'mount', !READS.has(method))
    const path = withoutPrefix(target, prefix)
    if (path === undefined) state.answer = await ancestor(req, target, prefix)
    else {
      state.path = path
      await next()
    }
  }
}

/** The one address of the server's own below the mount (SEC-5). */
const explainRules: Step = async ({ req, state }, next) => {
  const { mount, author, path } = state
  const asked = mount && author && path === explainPath(mount) && (req.method === 'GET' || req.method === 'HEAD')
  if (!asked) return next()
  const [, query = ''] = (req.url ?? '').split('?', 2)
  state.answer = await explainAccess(mount, author, query, req.headers.accept)
}

/** Methods that find nothing at reserved paths; everything else is refused there (DAV-13). */
const SEEKING = new Set(['GET', 'HEAD', 'PROPFIND', 'QUERY'])

const guardReserved: Step = ({ req, state }, next) => {
  const { mount, path = '/' } = state
  if (!mount || !isServerOwned({ mount }, path) || req.method === 'OPTIONS') return next()
  if (SEEKING.has(req.method ?? '')) throw new Fault(404, 'NotFound', 'Nothing is stored at this address.')
  throw reserved()
}

const checkLength: Step = ({ req, state }, next) => {
  if (state.mount) checkDeclaredLength(req, state.mount.settings.maxBody)
  return next()
}

const knowMethod: Step = ({ req }, next) => {
  if (Object.hasOwn(HANDLERS, req.method ?? '')) return next()
  throw notOffered()
}

/** @returns how a method is refused that the mount has no handler for (DAV-20) */
export function notOffered(): Fault {
  return new Fault(405, 'MethodNotAllowed', 'The mount does not offer this method.', { headers: { Allow: ALLOW } })
}

const judgeConditions: Step = async ({ req, state }, next) => {
  const { mount, path, client, author } = state
  if (!mount || path === undefined || !author) return
  const judge = () => judgeIf(req, { mount, author }, path, authoritiesOf(client, req, publicUrlOf(mount)))
  state.submitted = await judge()
  state.lookAgain = async () => {
    requireKnown(mount, author)
    if (req.headers.if !== undefined) await judge()
  }
  return next()
}

/** Whoever stores declarations is told that some may not say what they were meant to, and where it is told which. */
const tellOfDeclarations: Step = async ({ req, state }, next) => {
  await next()
  const { mount, path, answer, author } = state
  if (!mount || path === undefined || !answer || !author || answer.status >= 300 || req.method !== 'PUT') return
  const { site, settings } = mount
  const stored = canonicalPath(path)
  // What the scope does not open is told in no other way either (DAV-3).
  if (site.mayDeclare(stored) && (await tellFindings(answer, site, settings.brandHeader, stored, author.scope.whole)))
    answer.headers.Link = `<${mount.prefix}${explainPath(mount)}?path=${encodeURIComponent(stored)}>; rel="help"`
}

function dispatch({ publicAuthority, triggers, bodies }: MountParts, { bodyOf }: ResponseCache): Step {
  const triggered = withTriggers(triggers)
  return async ({ req, res, state }) => {
    const { mount, path, author, client, submitted, lookAgain } = state
    const handler = HANDLERS[req.method ?? '']
    if (!mount || path === undefined || !author || !submitted || !lookAgain || !handler) return
    const sent = bodyOf(req, res)
    // Writes ask when their turn has come.
    const body = READS.has(req.method ?? '') ? asksBehind(sent, () => requireKnown(mount, author)) : sent
    const exchange: Exchange = {
      request: req,
      response: res,
      method: req.method ?? '',
      mount,
      path,
      author,
      origin: `${client.secure ? 'https' : 'http'}://${client.authority ?? ''}`,
      pages: publicOrigin(mount.settings, client, publicAuthority),
      authorities: authoritiesOf(client, req, publicUrlOf(mount)),
      submitted,
      lookAgain,
      configure: author.scope.configure,
      raw: !READS.has(req.method ?? '') && isRawWrite({ request: req, mount, author }),
      body,
      pieces: piecesOf(bodies, req, res),
      allowance: oneAllowance(mount.site),
      triggered,
      afterwards: work => void state.afterwards.push(work),
    }
    const { name } = mount.site.store
    const handled = () => exchange.triggered(exchange, handler).catch(otherAnswer)
    if (submitted.size === 0) {
      state.answer = await asRequest(handled, name)
      return
    }
    // An upload that takes longer than its lock lives must not lose it (DAV-83).
    const hold = await mount.locks.keepAlive(name, author.user, submitted)
    try {
      state.answer = await asRequest(handled, name)
    } finally {
      hold.release()
    }
  }
}

/** @throws whatever is none */
function otherAnswer(error: unknown): Answer {
  if (error instanceof OtherAnswer) return error.answer
  throw error
}

/** Under a path of the public surface, a mount has the public address as well. */
function publicUrlOf({ prefix, settings }: Mount): string | undefined {
  return prefix === '' ? undefined : settings.publicUrl
}
