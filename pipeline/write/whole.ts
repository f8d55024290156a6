/**
 * How whole documents and blobs are written, moved and removed: the gates that all of them pass and how they come to their
 * commit (HTTP-1, HTTP-4).
 */

import type { Answer } from '../answer.ts'
import type { Authority, Authorizing } from '../authority.ts'
import type { BodySource } from '../body.ts'
import type { Reader } from '../compose/reader.ts'
import type { Locks } from '../coordination/locks.ts'
import type { Cause } from '../events/mutation.ts'
import { Fault } from '../fault.ts'
import { type Conditions, evaluateWrite, preconditionFailed } from '../http/conditions.ts'
import { authorize, type Gate, type Operation, passGates } from '../operation.ts'
import { absent } from '../refusals.ts'
import type { Site } from '../site/site.ts'
import type { StoredFile } from '../site/stored-file.ts'
import type { CommitResult } from '../store/commit.ts'
import type { Resource } from '../store/resource.ts'
import { commitLoop, type Judging } from './commit.ts'
import { untilKnown } from './one-moment.ts'
import { tagForReader } from './page-tag.ts'
import { nameTaken } from './places.ts'
import { type Chain, hasChains, inChain } from './put-chain.ts'

export interface WholeWrite extends Judging {
  /** Canonical path. */
  path: string
  conditions: Conditions | undefined
  /** As whom the requester sees the page, whose tag counts in conditions, too; absent: only what is stored does. */
  pageReader?: Reader
  /** Locks that bind the write (HTTP-85): a gate of its own, given the paths that are written. */
  refuseLocked?: (paths: readonly string[]) => Promise<void>
  /**
   * A last look at what is stored, inside the commit; it throws a Fault. The mount has conditions of its own, on what it
   * shows.
   */
  check?: (file: StoredFile | undefined) => void | Promise<void>
  /** That look finds the same whatever bytes other writes leave. */
  checksNoBytes?: boolean
  cause: Cause
}

/** What stands where a document is to be written, and who wants to. */
export interface Found<Write extends WholeWrite = WholeWrite> {
  site: Site
  write: Write
  authority: Authority
  file: StoredFile | undefined
}

export type WholeGate<F extends Found = Found> = Gate<F>

/** Gate 8 for PUT and DELETE; that nothing is stored there is a gate of its own. */
export function authorization(ask: 'put' | 'delete'): WholeGate {
  const method = ask.toUpperCase()
  return {
    name: 'authorization',
    pass({ write: { path }, authority, file }) {
      if (authority.admit({ ask, path, exists: file !== undefined }) === 'refuse') throw authority.refusal(method, path)
    },
  }
}

export const existence: WholeGate = {
  name: 'existence',
  pass({ file }) {
    if (!file) throw absent()
  },
}

/** Whether a requester may know the tag of a stored document, which is made of all its bytes (SEC-11). */
export function mayRead(authority: Authority, path: string): boolean {
  return authority.admit({ ask: 'read', path, exists: true }) === 'allow'
}

/**
 * HTTP-37 and HTTP-38 for whole documents. Whoever may not read one is not told its tag, nor by which one it would go: a
 * guess of its bytes would be confirmed. They know what they wrote last by a tag of that write, and no dates fit (SEC-6).
 */
export const preconditions: WholeGate = {
  name: 'preconditions',
  pass(found) {
    const { conditions } = found.write
    return conditions && checkConditions(found, conditions)
  },
}

async function checkConditions({ site, write, authority, file }: Found, conditions: Conditions): Promise<void> {
  const { path, pageReader } = write
  const known = mayRead(authority, path)
  const judge = (tags: string[]) =>
    evaluateWrite(conditions, {
      exists: file !== undefined,
      tags,
      lastModified: known ? file?.resource.modified : Number.POSITIVE_INFINITY,
      sameSecond: file?.resource.sameSecond,
    })
  const stored = file ? [known ? file.tag : writeTag(site, file.resource)] : []
  let verdict = judge(stored)
  if (file && known && pageReader && Array.isArray(verdict === 412 ? conditions.ifMatch : conditions.ifNoneMatch)) {
    const shown = await tagForReader(site, file, pageReader)
    if (shown !== undefined) verdict = judge([...stored, shown])
  }
  if (verdict !== 'proceed') throw preconditionFailed(known ? file?.tag : undefined, file !== undefined)
}

/**
 * Tag of one write of a resource, for its writer: it says nothing of the bytes, and no other write has it again (SEC-11), not
 * even where a backup was restored, behind which versions begin anew.
 */
export function writeTag(
  site: Site,
  { path, version, modified }: Pick<Resource, 'path' | 'version' | 'modified'>,
): string {
  return `"w-${site.documentPart({ path, digest: `${version} ${modified}` })}"`
}

export const locks: WholeGate = {
  name: 'locks',
  pass: ({ write }) => write.refuseLocked?.([write.path]),
}

/** @throws Fault 401 or 403 before anything is looked for that is forbidden in any case */
export async function findAllowed<W extends WholeWrite>(
  site: Site,
  write: W,
  ask: 'put' | 'delete',
  authority: Authority,
): Promise<Found<W>> {
  const { path } = write
  const isRefused = [true, false].every(exists => authority.admit({ ask, path, exists }) === 'refuse')
  if (isRefused) throw authority.refusal(ask.toUpperCase(), path)
  return { site, write, authority, file: await site.find(path) }
}

/** How whole documents are written: found, passed through gates, made ready, and committed. */
interface WholeParts<F extends Found, Ready> {
  write: WholeWrite
  authority: Authorizing
  /** Every path that is created, replaced or removed. */
  paths: readonly string[]
  gates: readonly Gate<F>[]
  find(authority: Authority): Promise<F>
  prepare(body: BodySource): Promise<Ready>
  /** Gate 13, under the leases of the paths; undefined when somebody else's commit came first. */
  commit(found: F, ready: Ready, chain?: Chain): Promise<Answer | undefined>
  /** The same behind writes of the path that are on their way; undefined as well where it cannot follow them. */
  follow?(found: F, ready: Ready, chain: Chain): Promise<Answer | undefined>
  discard?(ready: Ready): Promise<void>
  /** What is judged comes from the requester, but for what was stored before. */
  brings?: true
}

/**
 * A failure as a requester is told it: without the values of what they may not read (SEC-6).
 *
 * @param paths of what was judged
 * @param brings all but what was stored there before comes from the requester
 */
export function toldTo(authority: Authority, paths: readonly string[], error: unknown, brings = false): unknown {
  const discreet = error instanceof Fault ? error.details.discreet : undefined
  if (!discreet || (brings && discreet.of === 'written')) return error
  return paths.every(path => mayRead(authority, path)) ? error : discreet.fault()
}

export function wholeOperation<F extends Found, Ready>(site: Site, parts: WholeParts<F, Ready>): Operation {
  const { write, authority, paths, gates } = parts
  const find = async () => {
    await authority.settle?.(paths)
    return parts.find(authority())
  }
  return {
    async admit() {
      await authorize(gates, await find())
      return {}
    },
    async carryOut(body) {
      await passGates(gates, await find())
      const ready = await parts.prepare(body)
      const look = async () => {
        await authority.confirm?.()
        const found = await find()
        // What is checked must not be older than what the commit expects.
        if (!found.file) await untilKnown(site, paths)
        const following = site.followLoaded()
        if (following) await following
        await passGates(gates, found)
        await write.check?.(found.file)
        return found
      }
      const goOn = write.allowance?.pause?.()
      const commit = (chain?: Chain) => {
        goOn?.()
        return commitLoop(async () => parts.commit(await look(), ready, chain))
      }
      const follow = async (chain: Chain) => {
        goOn?.()
        return parts.follow?.(await look(), ready, chain)
      }
      try {
        if (!parts.follow || !hasChains(site)) return await site.leases.hold(site.store.name, paths, () => commit())
        return await inChain(site, write.path, commit, follow)
      } catch (error) {
        throw toldTo(authority(), paths, error, parts.brings)
      } finally {
        await parts.discard?.(ready)
      }
    },
  }
}

/** A conflict that another attempt can solve is undefined; a place that is taken by the other kind is an answer. */
export function carriedOut(result: CommitResult): (CommitResult & { ok: true }) | undefined {
  if (result.ok) return result
  // A file that is expected to be free, and is a collection: the path tells it from a collection that just came to be.
  const collection = result.reason === 'version' && !result.path.endsWith('/') && result.current?.kind === 'collection'
  if (result.reason === 'kind' || collection) throw nameTaken()
  return undefined
}

/**
 * Refuses a write of whole documents while one of its paths is in the scope of a lock. No token helps: tokens are of the
 * mount.
 *
 * @param paths canonical paths that the write creates, replaces or removes
 * @param now unix milliseconds
 * @throws Fault 423 `Locked`, with the seconds that the locks have left as `Retry-After`
 */
export async function refuseLocked(
  locks: Locks,
  site: string,
  paths: readonly string[],
  now = Date.now(),
): Promise<void> {
  const inEffect = (await Promise.all(paths.map(path => locks.on(site, path)))).flat()
  if (inEffect.length === 0) return
  const left = inEffect.reduce((most, { expires }) => Math.max(most, expires - now), 0)
  throw new Fault(423, 'Locked', 'Somebody is editing this. Try again when they have finished.', {
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(left / 1000))) },
  })
}
