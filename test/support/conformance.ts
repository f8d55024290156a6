/**
 * Conformance as two counts: tests of litmus, and replays of shipped clients that get every answer they need. Runs
 * against any WebDAV server.
 */

import { type Played, play, type Stage } from '../mount/replay.ts'
import { REPLAYS } from '../mount/replays/all.ts'
import { litmus, SUITES, type Suite, type SuiteResult } from './litmus.ts'
import { type Account, answering } from './peers/peer.ts'

/** A server to judge. */
export interface Candidate {
  /** Address of its root collection, without slash at the end. */
  url: string
  user: string
  password: string
  secondUser: Account
  /** Address of the public surface, where there is one. */
  visitors?: string
}

export interface Conformance {
  litmus: Readonly<Record<Suite, SuiteResult>>
  replays: readonly { title: string; played: readonly Played[] }[]
}

const basic = ({ user, password }: Account) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

export async function judge(candidate: Candidate): Promise<Conformance> {
  const { url, user, password } = candidate
  const results: Partial<Record<Suite, SuiteResult>> = {}
  for (const suite of Object.keys(SUITES) as Suite[]) {
    // A server that died of the suite before is given the time to come back.
    await answering(url)
    results[suite] = await litmus(suite, { url: `${url}/`, user, password })
  }
  const replays: Conformance['replays'][number][] = []
  for (const [i, replay] of REPLAYS.entries()) {
    await answering(url)
    const played = await play(replay, stageOf(candidate), `conformance-${i}`)
    replays.push({ title: `${replay.client} ${replay.task}`, played })
  }
  return { litmus: results as Record<Suite, SuiteResult>, replays }
}

export function stageOf({ url, user, password, secondUser, visitors }: Candidate): Stage {
  const { hostname, port, pathname } = new URL(url)
  const site = visitors === undefined ? undefined : new URL(visitors)
  return {
    mount: { address: hostname, port: Number(port) },
    prefix: pathname === '/' ? '' : pathname,
    authorization: basic({ user, password }),
    secondAuthorization: basic(secondUser),
    ...(site && { visitors: { address: site.hostname, port: Number(site.port) } }),
  }
}
