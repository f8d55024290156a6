import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { run } from '../support/program.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Runs a module without what the process of the tests keeps of compiled modules. */
async function ran(folder: string, program: string, flags: readonly string[] = []): Promise<string> {
  const env = { NODE_DISABLE_COMPILE_CACHE: '1', NODE_NO_WARNINGS: '1', NODE_OPTIONS: '' }
  const { code, output } = await run(process.execPath, [...flags, '--input-type=module', '-e', program], {
    cwd: folder,
    env,
  })
  expect(code, output).to.equal(0)
  return output.trim()
}

describe('The sources of a server', () => {
  it('are read without the stripper of types, and without the client that hangs on node:http, in all threads', async () => {
    const loaded = 'process.moduleLoadList.filter(name => /deps.(amaro|undici)/.test(name)).join()'
    const thread = join(tmpdir(), `thread-${process.pid}.mjs`)
    await writeFile(
      thread,
      `import { parentPort } from 'node:worker_threads'
      await import(${JSON.stringify(join(ROOT, 'pipeline/fault.ts'))})
      parentPort.postMessage('thread: ' + ${loaded})`,
    )
    try {
      const output = await ran(
        ROOT,
        `await import('./pipeline/sources.mjs')
        await import('./server/serve.ts')
        console.log('process: ' + ${loaded})
        const { startThread } = await import('./pipeline/thread.ts')
        const { pathToFileURL } = await import('node:url')
        startThread(pathToFileURL(${JSON.stringify(thread)}), {}).on('message', said => console.log(said))`,
      )
      expect(output).to.equal('process: \nthread:')
    } finally {
      await rm(thread)
    }
  })
})

describe('Threads', () => {
  it('have a small young generation, whatever the command line says of the process', async () => {
    const thread = `data:text/javascript,${encodeURIComponent(
      `import { parentPort } from 'node:worker_threads'
      import { getHeapStatistics } from 'node:v8'
      parentPort.postMessage(getHeapStatistics().heap_size_limit / 2 ** 20)`,
    )}`
    const limit = (make: string) =>
      `await new Promise(resolve => ${make}.on('message', limit => { console.log(limit < 120); resolve() }))\n`
    const options = '{ resourceLimits: { maxOldGenerationSizeMb: 100 } }'
    const output = await ran(
      ROOT,
      `await import('./pipeline/sources.mjs')
      const { Worker } = await import('node:worker_threads')
      const { startThread } = await import('./pipeline/thread.ts')
      const thread = new URL(${JSON.stringify(thread)})
      ${limit(`new Worker(thread, ${options})`)}${limit(`startThread(thread, ${options})`)}`,
      ['--max-semi-space-size=32'],
    )
    expect(output).to.equal('false\ntrue')
  })
})

describe('Sources that are stripped once', () => {
  let folder: string
  const say = (text: string) =>
    writeFile(join(folder, 'pipeline/said.ts'), `export const said: string = ${JSON.stringify(text)}\n`)
  const said = () =>
    ran(
      folder,
      `await import('./pipeline/sources.mjs')
      console.log((await import('./pipeline/said.ts')).said, process.moduleLoadList.some(name => name.includes('amaro')))`,
    )
  const keptAt = () => join(folder, 'node_modules/.cache/scriptorium', `plain-${process.version}`)
  const kept = () => readdir(keptAt())

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scriptorium-sources-'))
    for (const each of ['config', 'dav', 'edge', 'pipeline', 'server']) await mkdir(join(folder, each))
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    await cp(join(ROOT, 'pipeline/sources.mjs'), join(folder, 'pipeline/sources.mjs'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('are stripped anew when their text is another, of the same length too', async () => {
    await say('one')
    expect(await said()).to.equal('one false')
    expect(await said()).to.equal('one false')
    expect(await kept()).to.have.length(1)
    await say('two')
    expect(await said()).to.equal('two false')
    expect(await kept()).to.have.length(2)
    await say('one')
    expect(await said()).to.equal('one false')
  })

  it('are kept without comments, on the same lines, but for what only looks like one', async () => {
    const lines = [
      '/** Says',
      ' * it. */',
      'export const said: string =',
      '  // twice',
      '  // over',
      "  'one' // or two",
    ]
    await writeFile(join(folder, 'pipeline/said.ts'), `${lines.join('\n')}\n`)
    expect(await said()).to.equal('one false')
    const [name = ''] = await kept()
    expect((await readFile(join(keptAt(), name), 'utf8')).split('\n')).to.deep.equal([
      '',
      '',
      'export const said         =',
      '',
      '',
      "  'one' // or two",
      '',
    ])
    await writeFile(join(folder, 'pipeline/said.ts'), 'export const said = `\n// no comment\n`.trim()\n')
    expect(await said()).to.equal('// no comment false')
  })

  it('are stripped by Node where nothing may be written', async () => {
    await say('one')
    await writeFile(join(folder, 'node_modules'), 'no folder')
    expect(await said()).to.equal('one true')
  })
})
