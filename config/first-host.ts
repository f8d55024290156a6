/** The first of many hosts and patterns that fits a host: few of them are tried, however many there are. */

import { hostPattern } from './host-pattern.ts'
import { isHostPattern } from './hosts.ts'

interface Pattern {
  place: number
  fits: (host: string) => boolean
}

export class FirstHost {
  readonly #hosts = new Map<string, number>()
  /** By what stands behind their last wildcard: a host that fits ends in it. */
  readonly #patterns = new Map<string, Pattern[]>()
  readonly #lengths = new Set<number>()

  /**
   * @param host or a pattern of hosts
   * @param place in the order of all; no lower than that of what was added before
   */
  add(host: string, place: number): void {
    if (!isHostPattern(host)) {
      if (!this.#hosts.has(host)) this.#hosts.set(host, place)
      return
    }
    const end = host.slice(Math.max(...['*', '?', '}'].map(sign => host.lastIndexOf(sign))) + 1)
    const alike = this.#patterns.get(end)
    const pattern = { place, fits: hostPattern(host) }
    if (alike) alike.push(pattern)
    else this.#patterns.set(end, [pattern])
    this.#lengths.add(end.length)
  }

  /** @returns the place of the first that fits */
  find(host: string): number | undefined {
    let first = this.#hosts.get(host)
    for (const length of this.#lengths) {
      if (length > host.length) continue
      for (const { place, fits } of this.#patterns.get(host.slice(host.length - length)) ?? []) {
        if (first !== undefined && place >= first) break
        if (fits(host)) first = place
      }
    }
    return first
  }
}
