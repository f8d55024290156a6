import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { page, put } from '../support/content.ts'
import { run } from '../support/program.ts'
import { startServer } from '../support/server.ts'

const LAUNCH = fileURLToPath(new URL('../../server/launch.mjs', import.meta.url))

describe('check of a damaged database', () => {
  it('HTTP-172 tells it in sentences, without a trace of the program', async () => {
    const server = await startServer()
    for (let i = 0; i < 60; i++) await put(server, `/${i}.html`, page(`<p>${'words '.repeat(2000)}</p>`))
    await server.stop()
    const file = join(server.data, 'store.sqlite')
    const handle = openSync(file, 'r+')
    for (let at = 3 * 4096; at < statSync(file).size; at += 3 * 4096)
      writeSync(handle, Buffer.alloc(4096, 0x5a), 0, 4096, at)
    closeSync(handle)
    const { code, output } = await run(process.execPath, [LAUNCH, 'check', '--data', server.data])
    expect(code).to.be.oneOf([1, 2])
    expect(output).to.match(/malformed|damaged|problem|cannot be used/)
    expect(output).to.not.match(/^\s+at .+:\d+:\d+/m)
    await server.close().catch(() => undefined)
  })
})
