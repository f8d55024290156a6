/** Large events in wire format as long as some stream sends them: all streams send the same bytes (EVT-36, SEC-12). */

/** Characters from which on an event is large. */
const LARGE = 8 * 1024

export class SharedFrames {
  readonly #frames = new Map<string, WeakRef<Buffer>>()
  readonly #gone = new FinalizationRegistry<string>(key => {
    if (this.#frames.get(key)?.deref() === undefined) this.#frames.delete(key)
  })

  /**
   * @param key names the bytes: equal keys have equal bytes
   * @param size characters of the event
   * @param make makes the bytes where nobody has them
   */
  of(key: string, size: number, make: () => Buffer): Buffer {
    if (size < LARGE) return make()
    const known = this.#frames.get(key)?.deref()
    if (known) return known
    const made = make()
    this.#frames.set(key, new WeakRef(made))
    this.#gone.register(made, key)
    return made
  }
}
