/** Going through everything below a collection in path order, a page at a time, so that the event loop stays free. */

import { setImmediate } from 'node:timers/promises'
import { endOf, namesCollection, type SplitPath, splitPath } from './paths.ts'
import type { Resource } from './resource.ts'

/** A page of members with greater names than `after`, ascending by name; empty at the end. */
export type Page = (collection: string, after: string) => Resource[] | Promise<Resource[]>

/** One collection that is being gone through. */
interface Frame {
  collection: string
  page: Resource[]
  next: number
  /** Member collections whose turn comes later: `a/` follows `a!` and `a.html`. The last is the first in path order. */
  waiting: Resource[]
}

/** Whether everything below a collection comes before a sibling with a greater name. */
function precedes(collection: Resource, sibling: Resource): boolean {
  const path = collection.path.slice(0, -1)
  return !(sibling.path.startsWith(path) && sibling.path.slice(path.length) < '/')
}

/**
 * Everything below a collection, ascending by path; collections before their members.
 * @param page reads members of one collection
 * @param root path of the collection
 */
export async function* walk(page: Page, root: string): AsyncGenerator<Resource> {
  const frames: Frame[] = [{ collection: root, page: await page(root, ''), next: 0, waiting: [] }]
  const enter = async (collection: Resource): Promise<void> => {
    frames.push({ collection: collection.path, page: await page(collection.path, ''), next: 0, waiting: [] })
  }
  let served = 0
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const member = frame.page[frame.next]
    const due = frame.waiting.at(-1)
    if (due !== undefined && (member === undefined || precedes(due, member))) {
      frame.waiting.pop()
      yield due
      await enter(due)
    } else if (member === undefined) {
      frames.pop()
      continue
    } else {
      frame.next++
      if (member.kind === 'collection') frame.waiting.push(member)
      else yield member
    }
    if (frame.next === frame.page.length && frame.page.length > 0) {
      const last = frame.page[frame.next - 1]
      frame.page = last === undefined ? [] : await page(frame.collection, splitPath(last.path).name)
      frame.next = 0
    }
    if (++served % 512 === 0) await setImmediate()
  }
}

/**
 * Some of what is below a collection, a page at a time, in the order of folder and name.
 * @param read reads a page behind a place, up to a folder (exclusive); empty at the end
 */
export async function* inPages(
  collection: string,
  read: (after: SplitPath, end: string) => Resource[] | Promise<Resource[]>,
): AsyncGenerator<Resource> {
  if (!namesCollection(collection)) return
  const end = endOf(collection)
  for (let after: SplitPath = { folder: collection, name: '' }; ; ) {
    const page = await read(after, end)
    yield* page
    const last = page.at(-1)
    if (last === undefined) return
    after = splitPath(last.path)
    await setImmediate()
  }
}
