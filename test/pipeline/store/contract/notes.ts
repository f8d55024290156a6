import { expect } from 'chai'
import type { NoteChange } from '../../../../pipeline/store/notes.ts'
import { type Open, type Opened, START } from '../fixture.ts'

/** Notes, whatever the store. */
export function describeNotes(open: Open): void {
  let opened: Opened
  beforeEach(async () => {
    opened = await open()
  })
  afterEach(() => opened.close())

  const LATER = START + 60_000
  const keep = (key: string, value: string, expires = LATER): NoteChange => ({
    op: 'keep',
    note: { key, value, expires },
  })
  const change = (...changes: NoteChange[]) => opened.store.changeNotes(changes)
  const keys = async (prefix: string) => (await opened.store.notes(prefix)).map(({ key }) => key)

  it('what is kept is found, by key and by prefix, in the order of code points', async () => {
    const names = ['s/a', 's/a/1', 's/b', 's/Z', 's/é', 's/😀', 't/a']
    await change(...names.map(name => keep(name, `value of ${name}`)))
    expect(await opened.store.note('s/é')).to.deep.equal({ key: 's/é', value: 'value of s/é', expires: LATER })
    expect(await keys('s/')).to.deep.equal(['s/Z', 's/a', 's/a/1', 's/b', 's/é', 's/😀'])
    expect(await keys('s/a')).to.deep.equal(['s/a', 's/a/1'])
    expect(await opened.store.note('s/')).to.equal(undefined)
    expect(await keys('')).to.deep.equal([])
  })

  it('what is kept again replaces the value and the time', async () => {
    await change(keep('a', 'one'), keep('a', 'two', LATER + 1))
    expect(await opened.store.note('a')).to.deep.equal({ key: 'a', value: 'two', expires: LATER + 1 })
  })

  it('REA-86 notes of a commit are kept together with its changes, or not at all', async () => {
    const site = opened.store.site('site')
    const collection = (path: string) => ({ op: 'collection' as const, path })
    await site.commit({ changes: [collection('/a/')], notes: [keep('n/1', '1'), keep('n/2', '2')] })
    expect(await keys('n/')).to.deep.equal(['n/1', 'n/2'])
    const refused = await site.commit({
      changes: [collection('/b/')],
      requires: { rules: 7 },
      notes: [keep('n/3', '3'), { op: 'drop', key: 'n/1' }],
    })
    expect(refused.ok).to.equal(false)
    expect(await keys('n/')).to.deep.equal(['n/1', 'n/2'])
    await site.commit({ changes: [], notes: [{ op: 'drop', key: 'n/1' }] })
    expect(await keys('n/')).to.deep.equal(['n/2'])
  })

  it('changes are carried out in their order', async () => {
    await change(keep('x/1', '1'), keep('x/2', '2'), keep('y', '3'))
    await change(
      { op: 'drop-all', prefix: 'x/' },
      keep('x/3', '3'),
      { op: 'drop', key: 'y' },
      { op: 'drop', key: 'no' },
    )
    expect(await keys('x')).to.deep.equal(['x/3'])
    expect(await keys('y')).to.deep.equal([])
  })

  it('all that begin with a text are moved, with what they hold and their times', async () => {
    await change(keep('é😀/a', '1'), keep('é😀/b', '2', LATER + 1), keep('é😀', 'x'), keep('é😀0', 'y'))
    await change({ op: 'move-all', prefix: 'é😀/', to: 'm/o/' }, { op: 'move-all', prefix: 'none/', to: 'o/' })
    expect(await opened.store.notes('m/')).to.deep.equal([
      { key: 'm/o/a', value: '1', expires: LATER },
      { key: 'm/o/b', value: '2', expires: LATER + 1 },
    ])
    expect(await keys('é')).to.deep.equal(['é😀', 'é😀0'])
  })

  it('keys alone are read part by part', async () => {
    await change(...['k/a', 'k/b', 'k/c', 'k/é', 'l/a'].map(name => keep(name, 'x')), keep('k/d', 'gone', START))
    const read = (after: string, most: number) => opened.store.noteKeys('k/', after, most)
    expect(await read('', 9)).to.deep.equal(['k/a', 'k/b', 'k/c', 'k/é'])
    expect(await read('', 2)).to.deep.equal(['k/a', 'k/b'])
    expect(await read('k/b', 2)).to.deep.equal(['k/c', 'k/é'])
    expect(await read('k/é', 2)).to.deep.equal([])
    expect(await opened.store.noteKeys('', '', 2)).to.deep.equal([])
  })

  it('a prefix is text and no pattern', async () => {
    await change(keep('a%1', '1'), keep('aX1', '2'), keep('a_1', '3'), keep('a*', '4'))
    expect(await keys('a%')).to.deep.equal(['a%1'])
    expect(await keys('a_')).to.deep.equal(['a_1'])
    await change({ op: 'drop-all', prefix: 'a*' })
    expect(await keys('a')).to.deep.equal(['a%1', 'aX1', 'a_1'])
  })

  it('a note is gone at its time, and a later one of its key is another', async () => {
    await change(keep('a', 'old', START + 10), keep('b', 'b', START + 11))
    opened.clock.now = START + 9
    expect(await keys('a')).to.deep.equal(['a'])
    opened.clock.now = START + 10
    expect(await opened.store.note('a')).to.equal(undefined)
    expect(await keys('a')).to.deep.equal([])
    expect(await keys('b')).to.deep.equal(['b'])
    await change(keep('a', 'new', START + 20))
    expect((await opened.store.note('a'))?.value).to.equal('new')
  })

  it('notes outlive the process', async () => {
    await change(keep('a', 'kept'))
    const store = await opened.reopen()
    expect((await store.note('a'))?.value).to.equal('kept')
  })

  for (const [name, key] of [
    ['empty', ''],
    ['with a NUL', 'a\0b'],
    ['with half a character', 'a\ud800'],
  ] as const) {
    it(`a key that is ${name} is refused, and nothing of the change is done`, async () => {
      const bad: NoteChange[] = [keep(key, 'v'), { op: 'drop', key }, { op: 'drop-all', prefix: key }]
      bad.push({ op: 'move-all', prefix: key, to: 'x' }, { op: 'move-all', prefix: 'x', to: key })
      for (const each of bad) {
        const error = await change(keep('fine', 'v'), each).catch((thrown: unknown) => thrown)
        expect(error).to.include({ name: 'StoreError', reason: 'invalid' })
      }
      expect(await opened.store.note('fine')).to.equal(undefined)
    })
  }
}
