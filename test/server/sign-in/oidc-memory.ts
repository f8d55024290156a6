/** What the tests' identity provider remembers: payloads by kind and id, without expiry. */

import type { Adapter, AdapterConstructor, AdapterPayload } from 'oidc-provider'

/** @returns a class whose instances share a memory of their own */
export function newMemory(): AdapterConstructor {
  const kept = new Map<string, AdapterPayload>()
  const first = (test: (payload: AdapterPayload) => boolean) => [...kept.values()].find(test)

  return class Memory implements Adapter {
    readonly kind: string

    constructor(kind: string) {
      this.kind = kind
    }

    async upsert(id: string, payload: AdapterPayload): Promise<void> {
      kept.set(`${this.kind} ${id}`, payload)
    }

    async find(id: string): Promise<AdapterPayload | undefined> {
      return kept.get(`${this.kind} ${id}`)
    }

    async findByUid(uid: string): Promise<AdapterPayload | undefined> {
      return first(payload => payload.uid === uid)
    }

    async findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
      return first(payload => payload.userCode === userCode)
    }

    async consume(id: string): Promise<void> {
      const payload = await this.find(id)
      if (payload) payload.consumed = Math.floor(Date.now() / 1000)
    }

    async destroy(id: string): Promise<void> {
      kept.delete(`${this.kind} ${id}`)
    }

    async revokeByGrantId(grantId: string): Promise<void> {
      for (const [key, payload] of kept) if (payload.grantId === grantId) kept.delete(key)
    }
  }
}
