/**
 * What the processes of an installation share, or a single one keeps for itself: leases, locks, sessions, rate limits, the
 * passing on of events, and memory in step with the store.
 */

import { randomUUID } from 'node:crypto'
import type { Settings } from '../config/schema.ts'
import type { FanOut } from '../pipeline/coordination/fan-out.ts'
import type { Leases } from '../pipeline/coordination/leases.ts'
import { localFanOut } from '../pipeline/coordination/local/fan-out.ts'
import { localLeases } from '../pipeline/coordination/local/leases.ts'
import { openLocalLocks } from '../pipeline/coordination/local/locks.ts'
import { localRateLimits } from '../pipeline/coordination/local/rate-limits.ts'
import { openLocalSessions } from '../pipeline/coordination/local/sessions.ts'
import type { Locks } from '../pipeline/coordination/locks.ts'
import type { RateLimits } from '../pipeline/coordination/rate-limits.ts'
import { heeded } from '../pipeline/coordination/redis/acceptance.ts'
import { parseRedisAddress } from '../pipeline/coordination/redis/address.ts'
import { connectRedis, isForgetful, isPersisted } from '../pipeline/coordination/redis/connection.ts'
import { redisFanOut } from '../pipeline/coordination/redis/fan-out.ts'
import { redisLeases } from '../pipeline/coordination/redis/leases.ts'
import { redisLocks } from '../pipeline/coordination/redis/locks.ts'
import { redisRateLimits } from '../pipeline/coordination/redis/rate-limits.ts'
import { openRedisSessions } from '../pipeline/coordination/redis/sessions.ts'
import type { Sessions } from '../pipeline/coordination/sessions.ts'
import { Coherence, leasesInStep } from '../pipeline/site/coherence.ts'
import type { ForeignCommits } from '../pipeline/store/foreign.ts'
import type { Store } from '../pipeline/store/store.ts'
import type { Log } from './log.ts'

export interface Coordination {
  leases: Leases
  locks: Locks
  sessions: Sessions
  rateLimits: RateLimits
  fanOut: FanOut
  /** Present when other processes may change the store. */
  coherence?: Coherence
  /** Present also when the store may be set back to an earlier state, as by a fail-over. */
  following?: Coherence
  /** Whether what the processes share can be reached now. */
  isUp(): boolean
  /** Whether it was taken when something was to be kept there last. */
  takesWrites(): boolean
  /** To be called when no request is running any more. */
  close(): Promise<void>
}

/** @param store open, and shared if the settings name a Redis */
export async function openCoordination(settings: Settings, store: Store, log: Log): Promise<Coordination> {
  const opened = settings.redis === undefined ? openLocal(settings, store, log) : openShared(settings, store, log)
  const { fanOut, locks, sessions, end, ...rest } = await opened
  return {
    fanOut,
    locks,
    sessions,
    ...rest,
    async close() {
      await fanOut.close()
      await locks.close()
      await sessions.close()
      await end()
    },
  }
}

type Opened = Omit<Coordination, 'close'> & { end: () => Promise<void> }

function follow(foreign: ForeignCommits, log: Log): Coherence {
  return new Coherence({
    foreign,
    failed: error => log.error({ err: error }, 'memory could not be brought in step with the store'),
  })
}

async function openLocal({ data, limits }: Settings, store: Store, log: Log): Promise<Opened> {
  const following = store.foreign && follow(store.foreign, log)
  return {
    ...(following && { following }),
    leases: localLeases({ patience: limits.leaseWait }),
    locks: await openLocalLocks({ folder: data }),
    sessions: await openLocalSessions({ store }),
    rateLimits: localRateLimits(),
    isUp: () => true,
    takesWrites: () => true,
    fanOut: localFanOut({ store, failed: error => log.error({ err: error }, 'an event was not passed on') }),
    end: async () => following?.close(),
  }
}

async function openShared({ redis: url = '', limits }: Settings, store: Store, log: Log): Promise<Opened> {
  const address = parseRedisAddress(url)
  if (!address || !store.foreign) throw new Error('The settings name no Redis that can be used.')
  const prefix = `scriptorium:${await installationId(store)}`
  const report = (level: 'info' | 'warn', message: string, details: object) => log[level](details, message)
  const connection = await connectRedis(address, { report })
  void isPersisted(connection.redis).then(persisted => {
    if (persisted === false)
      log.warn(
        'Redis keeps nothing on disk: when it ends, locks of the mount and sign-ins are forgotten (save, appendonly)',
      )
  })
  void isForgetful(connection.redis).then(isSo => {
    if (isSo)
      log.warn(
        'Redis drops what it holds when its memory is full: locks of the mount and sign-ins are forgotten then ' +
          '(maxmemory-policy noeviction keeps them)',
      )
  })
  const coherence = follow(store.foreign, log)
  const { newest } = store.foreign
  const opened = {
    leases: redisLeases({ connection, prefix, patience: limits.leaseWait, newest }),
    locks: redisLocks({ redis: connection.redis, prefix }),
    sessions: await openRedisSessions({
      connection,
      prefix,
      failed: error => log.warn({ err: error }, 'ended sessions could not be looked up'),
    }),
  }
  const { leases, locks, sessions, takesWrites } = heeded(opened, report)
  return {
    leases: leasesInStep(leases, coherence, store),
    locks,
    sessions,
    takesWrites,
    rateLimits: redisRateLimits({ connection, prefix }),
    fanOut: redisFanOut({
      store,
      coherence,
      connection,
      prefix,
      failed: error => log.error({ err: error }, 'an event was not passed on'),
    }),
    coherence,
    following: coherence,
    isUp: () => connection.isUp(),
    async end() {
      await coherence.close()
      leases.close()
      await connection.close()
    },
  }
}

const INSTALLATION = 'installation'

/** Keeps installations apart that use the same Redis; all processes on one data folder read the same. */
async function installationId(store: Store): Promise<string> {
  await store.setSetting(INSTALLATION, randomUUID().slice(0, 8), { unlessSet: true })
  return (await store.setting(INSTALLATION)) ?? ''
}
