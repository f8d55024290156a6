import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { keepReserve, reserved } from '../../../../pipeline/store/disk/reserve.ts'
import { openSqliteStore } from '../../../../pipeline/store/sqlite/store.ts'
import { put } from '../fixture.ts'

const REMOVED = { op: 'delete' as const, expect: 1 }

describe('SQLite store: a disk without room', () => {
  let disk: string
  let isMounted = false

  beforeEach(function () {
    disk = mkdtempSync(join(tmpdir(), 'scriptorium-disk-'))
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=48m', 'tmpfs', disk], { stdio: 'ignore' })
      isMounted = true
    } catch {
      // Only an administrator may mount a disk of this size.
      this.skip()
    }
  })
  afterEach(() => {
    if (isMounted) execFileSync('umount', ['-l', disk])
    isMounted = false
    rmSync(disk, { recursive: true, force: true })
  })

  /** Takes all room that is left. */
  function fill(): void {
    const handle = openSync(join(disk, 'filler'), 'a')
    try {
      for (const size of [1024 * 1024, 4096, 512, 1]) {
        try {
          for (;;) writeSync(handle, Buffer.alloc(size, 1))
        } catch {
          // The next smaller piece may still fit.
        }
      }
    } finally {
      closeSync(handle)
    }
  }

  it('HTTP-172 still removes what takes room, again and again, and then stores again', async () => {
    const folder = join(disk, 'data')
    const store = await openSqliteStore({ folder })
    const site = store.site('s')
    const paths = Array.from({ length: 30 }, (_, i) => `/${i}.html`)
    for (const path of paths) await site.commit({ changes: [put(path, 'x'.repeat(100_000))] })
    expect(reserved(folder)).to.equal(4 * 1024 * 1024)
    fill()
    const large = put('/large.html', 'y'.repeat(20_000_000))
    const full = await site.commit({ changes: [large] }).catch((error: { reason: string }) => error.reason)
    expect(full).to.equal('full')
    for (const path of paths) {
      const resource = await site.find(path)
      const result = await site.commit({ changes: [{ ...REMOVED, path, expect: resource?.version ?? 0 }] })
      expect(result.ok, path).to.equal(true)
      fill()
    }
    expect(reserved(folder)).to.be.above(0)
    rmSync(join(disk, 'filler'))
    expect((await site.commit({ changes: [put('/after.html', 'z'.repeat(50_000))] })).ok).to.equal(true)
    await store.close()
  })

  it('HTTP-172 takes no room for it where there is too little', () => {
    fill()
    rmSync(join(disk, 'filler'))
    keepReserve(disk, 1024 * 1024 * 1024)
    expect(reserved(disk)).to.equal(0)
    keepReserve(disk)
    expect(reserved(disk)).to.equal(4 * 1024 * 1024)
  })
})
