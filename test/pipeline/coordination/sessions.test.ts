import { expect } from 'chai'
import { describe, it } from 'mocha'
import { openLocalSessions } from '../../../pipeline/coordination/local/sessions.ts'
import { StoreError } from '../../../pipeline/store/errors.ts'
import { openTemporary } from '../store/fixture.ts'
import { sessionsContract } from './sessions-contract.ts'

describe('sessions of a single process', () => {
  sessionsContract(async () => {
    const opened = await openTemporary()
    const clock = () => opened.clock.now
    const sessions = await openLocalSessions({ store: opened.store, clock })
    return {
      sessions,
      advance: ms => (opened.clock.now += ms),
      now: clock,
      async restart() {
        await sessions.close()
        return openLocalSessions({ store: await opened.reopen(), clock })
      },
      end: opened.close,
    }
  })

  it('SSN-4 a store that fails is told as such, and the next call is tried anew', async () => {
    let works = true
    const store = {
      note: async () => undefined,
      notes: async () => [],
      changeNotes: async () => {
        if (!works) throw new StoreError('full', 'No space left')
      },
    }
    const sessions = await openLocalSessions({ store, clock: () => 0 })
    works = false
    const told: string[] = []
    sessions.onEnd((_site, id) => told.push(id))
    const attempts = [
      () => sessions.keep('a.example', 's', { name: 'n', value: 'v', expires: 1 }),
      () => sessions.end('a.example', { id: 's', until: 1 }),
      () =>
        sessions.signIn(
          'a.example',
          't',
          { signIn: { claims: {}, roles: [], at: 0 }, expires: 1 },
          { id: 's', until: 1 },
        ),
    ]
    for (const attempt of attempts) {
      const error = await attempt().catch((thrown: unknown) => thrown)
      expect(error).to.have.property('name', 'SessionError')
    }
    expect(sessions.hasEnded('a.example', 's')).to.equal(false)
    expect(told).to.deep.equal([])
    works = true
    expect(await sessions.keep('a.example', 's', { name: 'n', value: 'v', expires: 1 })).to.equal(true)
  })

  it('SEC-12 a sign-in reads nothing of what the session holds, which may be content for any number of pages', async () => {
    const opened = await openTemporary()
    try {
      const clock = () => opened.clock.now
      const read: string[] = []
      const notes = (prefix: string) => {
        read.push(prefix)
        return opened.store.notes(prefix)
      }
      const sessions = await openLocalSessions({ store: { ...opened.store, notes }, clock })
      for (const name of ['a', 'b']) await sessions.keep('x', 'old', { name, value: 'v', expires: clock() + 10 })
      read.length = 0
      const signIn = { claims: { sub: 'ann' }, roles: [], at: clock() }
      const follows = { id: 'old', until: clock() + 10 }
      expect(await sessions.signIn('x', 'new', { signIn, expires: clock() + 10 }, follows)).to.equal(true)
      expect(read).to.deep.equal([])
      expect(await sessions.value('x', 'new', 'b')).to.equal('v')
    } finally {
      await opened.close()
    }
  })

  it('SSN-3 marks of ended sessions do not pile up', async () => {
    const opened = await openTemporary()
    try {
      const clock = () => opened.clock.now
      const sessions = await openLocalSessions({ store: opened.store, clock })
      await Promise.all(
        Array.from({ length: 999 }, (_, i) => sessions.end('a.example', { id: `old${i}`, until: clock() + 10 })),
      )
      opened.clock.now += 10
      await sessions.end('a.example', { id: 'new', until: clock() + 10 })
      expect(sessions.hasEnded('a.example', 'new')).to.equal(true)
      opened.clock.now -= 10
      expect(sessions.hasEnded('a.example', 'old1')).to.equal(false)
    } finally {
      await opened.close()
    }
  })
})
