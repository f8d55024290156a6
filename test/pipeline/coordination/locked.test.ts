import { expect } from 'chai'
import { openLocalLocks } from '../../../pipeline/coordination/local/locks.ts'
import { Fault } from '../../../pipeline/fault.ts'
import { refuseLocked } from '../../../pipeline/write/whole.ts'

const NOW = 1_773_480_413_589
const SITE = 'a.example'

describe('locks that bind public writes', () => {
  const cases: [paths: string[], retryAfter: string | undefined][] = [
    [['/free.html'], undefined],
    [['/file.html'], '600'],
    [['/tree/below.html'], '77'],
    [['/flat/below.html'], undefined],
    [['/free.html', '/tree/x'], '77'],
    [['/file.html', '/tree/x'], '600'],
    [[], undefined],
  ]
  for (const [paths, retryAfter] of cases) {
    it(`HTTP-85 a write of ${paths.join(' and ') || 'nothing'} ${retryAfter ? `waits for ${retryAfter} s` : 'goes on'}`, async () => {
      const locks = await openLocalLocks({ clock: () => NOW })
      const request = { scope: 'exclusive', owner: '', user: 'ann' } as const
      await locks.take(SITE, { ...request, path: '/file.html', depth: 0, seconds: 600 })
      await locks.take(SITE, { ...request, path: '/tree/', depth: 'infinity', seconds: 77 })
      await locks.take(SITE, { ...request, path: '/flat/', depth: 0, seconds: 600 })
      const outcome = await refuseLocked(locks, SITE, paths, NOW + 0.5).catch((error: unknown) => error)
      if (retryAfter === undefined) expect(outcome).to.equal(undefined)
      else {
        expect(outcome).to.be.instanceOf(Fault).and.to.include({ status: 423, kind: 'Locked' })
        expect((outcome as Fault).details.headers).to.deep.equal({ 'Retry-After': retryAfter })
      }
    })
  }
})
