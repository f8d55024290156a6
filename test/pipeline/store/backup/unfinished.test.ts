import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { migrateStore } from '../../../../pipeline/store/backup/migrate.ts'
import { restoreStore } from '../../../../pipeline/store/backup/restore.ts'
import { saveStore } from '../../../../pipeline/store/backup/save.ts'
import { halfOf, RESTORING } from '../../../../pipeline/store/backup/unfinished.ts'
import { done, openTemporary, put, temporaryFolder } from '../fixture.ts'
import { openEmpty } from '../postgres/fixture.ts'

const TERMS = { settings: [], accepts: () => true }

for (const [name, open] of [
  ['SQLite', openTemporary],
  ['PostgreSQL', openEmpty],
] as const) {
  it(`half of a restore or of a move in ${name} stays known as that, whatever else is to be put beside it`, async () => {
    const [from, to, target] = [await openTemporary(), await open(), await temporaryFolder()]
    try {
      const backup = join(target.folder, 'backup')
      await done(from.store.site('a.example'), [put('/a.html', 'A')])
      await saveStore(from.store, backup, TERMS)
      const arrivals: unknown[] = []
      const arrived = async (site: string) => {
        const half = (await halfOf(to.store, 'it')) ?? 'whole'
        arrivals.push([site, Boolean(await to.store.site(site).find('/a.html')), half.slice(0, 13)])
      }
      const works = [
        () => restoreStore(to.store, backup, { ...TERMS, arrived }),
        () => migrateStore(from.store, to.store, { settings: [], arrived }),
      ]
      await done(to.store.site('b.example'), [put('/half.html', 'half')])
      for (const [mark, half] of [
        ['other', 'a backup; run scriptorium restore'],
        ['migrate other', 'another store; run scriptorium migrate'],
      ] as const) {
        await to.store.setSetting(RESTORING, mark)
        for (const work of works) {
          const refusal = await work().catch((error: unknown) => error)
          const told = `the store holds half of ${half} again to finish, or choose an empty store`
          expect(refusal).to.include({ name: 'Unusable', message: told })
          expect(await to.store.setting(RESTORING)).to.equal(mark)
        }
      }
      expect(await to.store.sites()).to.deep.equal(['b.example'])
      // Beside what is whole there is room.
      await to.store.setSetting(RESTORING, '')
      for (const work of works) await work()
      // A server that comes behind it would serve what is still to be done for it.
      expect(arrivals).to.deep.equal(works.map(() => ['a.example', true, 'it holds half']))
      expect(await halfOf(to.store, 'it')).to.equal(undefined)
      expect(await to.store.sites()).to.deep.equal(['a.example', 'b.example'])
    } finally {
      await Promise.all([from.close(), to.close(), target.remove()])
    }
  })

  it(`a backup of ${name} removes what a first one left that was killed, and nothing of desktop systems`, async () => {
    const [from, target] = [await open(), await temporaryFolder()]
    try {
      const backup = join(target.folder, 'backup')
      const others = ['objects/.DS_Store', 'objects/ab/.DS_Store', 'objects/ab/@eaDir']
      await mkdir(join(backup, 'objects/ab/@eaDir'), { recursive: true })
      for (const file of [
        'in-use.lock',
        'in-use.lock-journal',
        'state-1-a.jsonl',
        'backup.json.new',
        `objects/ab/${'c'.repeat(62)}.new`,
        `objects/ab/${'d'.repeat(62)}`,
        ...others.slice(0, 2),
      ])
        await writeFile(join(backup, file), 'x')
      await done(from.store.site('a.example'), [put('/a.html', 'A')])
      await saveStore(from.store, backup, TERMS)
      const there = await readdir(backup, { recursive: true })
      const left = there.filter(file => /state-1-a|new$|c{62}|d{62}|DS_Store|eaDir/.test(file))
      expect(left).to.have.members(others)
    } finally {
      await Promise.all([from.close(), target.remove()])
    }
  })
}

it('a backup with a file missing is not begun to be restored beside a site, which could not be served then', async () => {
  const [from, to, target] = [await openTemporary(), await openTemporary(), await temporaryFolder()]
  try {
    const backup = join(target.folder, 'backup')
    await done(from.store.site('a.example'), [put('/a.html', 'A')])
    await saveStore(from.store, backup, TERMS)
    await rm(join(backup, 'objects'), { recursive: true })
    await done(to.store.site('b.example'), [put('/b.html', 'B')])
    const refusal = await restoreStore(to.store, backup, TERMS).catch((error: unknown) => error)
    const told = `${backup} is damaged: a.example/a.html: its bytes are missing`
    expect(refusal).to.include({ name: 'Unusable', message: told })
    expect((await to.store.setting(RESTORING)) ?? '').to.equal('')
  } finally {
    await Promise.all([from.close(), to.close(), target.remove()])
  }
})
