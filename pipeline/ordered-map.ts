/**
 * A map whose entries stand in a row, the last that was put or used at its end: what caches need that let the oldest go.
 *
 * A `Map` can do the same by deleting and setting again, but pays for it: what was deleted stays in its table until that is
 * full and made anew, and is walked over by each look for the first entry, and by each look-up of a key that was deleted
 * again and again. With some thousand entries that is 10 to 100 µs each time.
 */

interface Place<K, V> {
  /** Undefined at the end, and where nothing is to be held any more. */
  key: K | undefined
  /** Undefined where it was deleted. */
  value: V | undefined
  before: Place<K, V>
  after: Place<K, V>
  /** How many had been put at the end when it was. */
  turn: number
  /** It is among those that were deleted lately. */
  isNoted: boolean
}

/** Deleted keys that stay in the table for a while: most of what is put soon after was deleted a moment before. */
const NOTED = 64

/** @typeParam V anything but undefined */
export class OrderedMap<K, V extends NonNullable<unknown> | null> {
  readonly #places = new Map<K, Place<K, V>>()
  /** Stands between the last one and the first. */
  readonly #end: Place<K, V>
  #noted: Place<K, V>[] = []
  /** The one of them that goes next. */
  #next = 0
  #size = 0
  #turn = 0

  constructor() {
    const end = { key: undefined, value: undefined, turn: 0, isNoted: false } as Place<K, V>
    end.before = end
    end.after = end
    this.#end = end
  }

  get size(): number {
    return this.#size
  }

  /** The value of a key, which stays where it is in the row. */
  get(key: K): V | undefined {
    return this.#places.get(key)?.value
  }

  has(key: K): boolean {
    return this.get(key) !== undefined
  }

  /**
   * The value of a key, which goes to the end of the row, unless it stands in the newer half anyway: to move it there
   * would mean to touch four others, and those that are used again and again are found there.
   */
  use(key: K): V | undefined {
    const place = this.#places.get(key)
    if (place?.value === undefined) return undefined
    if (this.#turn - place.turn >= this.#size / 2) {
      takeOut(place)
      this.#append(place)
    }
    return place.value
  }

  /** Puts a value at the end of the row. */
  set(key: K, value: V): void {
    const place = this.#places.get(key)
    if (!place) {
      const { before } = this.#end
      const added: Place<K, V> = { key, value, before, after: this.#end, turn: ++this.#turn, isNoted: false }
      before.after = added
      this.#end.before = added
      this.#places.set(key, added)
      this.#size++
      return
    }
    if (place.value === undefined) this.#size++
    else takeOut(place)
    place.value = value
    this.#append(place)
  }

  /** @returns the value that went */
  delete(key: K): V | undefined {
    const place = this.#places.get(key)
    if (place?.value === undefined) return undefined
    const { value } = place
    place.value = undefined
    takeOut(place)
    this.#size--
    if (!place.isNoted) this.#note(place)
    return value
  }

  /** The same for an object that is not put again: nothing of it is held any more. */
  drop(key: K): V | undefined {
    const value = this.delete(key)
    const place = this.#places.get(key)
    if (place) place.key = undefined
    this.#places.delete(key)
    return value
  }

  clear(): void {
    this.#places.clear()
    this.#noted = []
    this.#next = 0
    this.#size = 0
    this.#end.before = this.#end
    this.#end.after = this.#end
  }

  /** The first key of the row; undefined where there is none. */
  get oldest(): K | undefined {
    return this.#end.after.key
  }

  /** From the first to the last; the one that is gone through may be deleted, and others as well. */
  *[Symbol.iterator](): Generator<[K, V], void, undefined> {
    for (let place = this.#end.after; place !== this.#end; place = place.after)
      if (place.value !== undefined) yield [place.key as K, place.value]
  }

  #append(place: Place<K, V>): void {
    const { before } = this.#end
    place.turn = ++this.#turn
    place.before = before
    place.after = this.#end
    before.after = place
    this.#end.before = place
  }

  #note(place: Place<K, V>): void {
    place.isNoted = true
    const longest = this.#noted[this.#next]
    this.#noted[this.#next] = place
    this.#next = (this.#next + 1) % NOTED
    if (!longest) return
    longest.isNoted = false
    if (longest.value === undefined) this.#places.delete(longest.key as K)
  }
}

/** Those beside it close up; it still knows the one behind it, for whoever goes through the row now. */
function takeOut<K, V>({ before, after }: Place<K, V>): void {
  before.after = after
  after.before = before
}
