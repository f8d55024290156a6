/** What the steps of the public application find out about a request, one after another. */

import type Koa from 'koa'
import type { Client } from '../edge/request.ts'
import type { Answer } from '../pipeline/answer.ts'
import type { Target } from '../pipeline/http/path.ts'
import type { HostedSite } from './hosting.ts'
import type { Session } from './sessions/site-sessions.ts'

export interface State {
  started: number
  client: Client
  hosted?: HostedSite
  target?: Target
  session?: Session
  answer?: Answer
  /** The site has no documents yet, and its start page was asked for. */
  isEmpty?: boolean
  /** To be called once the answer is sent. */
  afterwards: (() => void)[]
}

export type Step = Koa.Middleware<State>
