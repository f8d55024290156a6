import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { property, schema } from '../../pipeline/model/markup.ts'
import { NS, page } from '../../support/content.ts'
import { run } from '../../support/program.ts'
import { runHere } from './real.ts'

const TEA = 'urn:t:Tea'

describe('command line: scripts of a site', () => {
  const launcher = fileURLToPath(new URL('../../../server/launch.mjs', import.meta.url))
  let folder: string
  const command = (...argv: string[]) => run(process.execPath, [launcher, ...argv], { cwd: folder })

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scriptorium-scripts-'))
    const script = `<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="loud"><div itemprop="implementation" itemscope itemtype="${NS}/JavaScript/Module"><script itemprop="source" type="module">export default function () { return this.name + "!" }</script></div></div>`
    await mkdir(join(folder, 'files'))
    await writeFile(
      join(folder, 'files', 'a.html'),
      page(
        `${schema(TEA, {}, property('name'), script)}<p itemscope itemtype="${TEA}"><b itemprop="name">Assam</b></p>`,
      ),
    )
    await writeFile(
      join(folder, 'site.yaml'),
      `data: ./data\nsites: [{ host: localhost, credentials: [{ user: u, key: "sha256$${'0'.repeat(64)}" }] }]\n`,
    )
    const imported = await runHere(['import', '-c', join(folder, 'site.yaml'), join(folder, 'files')], folder)
    expect(imported.code, imported.output).to.equal(0)
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('JS-16 run in expressions of the command line, too', async () => {
    const program = `@schema T url("${TEA}"); T.search().first().loud()`
    const { output } = await command('query', '-c', 'site.yaml', '/a.html', program)
    expect(output).to.include('Assam!')
  })
})
