/** Turns of processes to take room on a site whose files may take so much together. */

import type { Leases } from '../coordination/leases.ts'

/** Stands for the room of a site among the paths of its leases: no path is without a slash. */
export const ROOM = 'room'

/** Commits of one turn, so that other processes have theirs. */
const MOST = 64

interface Turn {
  /** Commits that have joined, and those of them that have not come to their end. */
  joined: number
  underWay: number
  /** Settles when no other process lets the site grow, and all that they have stored is known. */
  begun: Promise<void>
  end: () => void
}

/**
 * Commits of one process share a turn: among themselves they count what each takes, and would wait for each other's flush to
 * the disk otherwise. A turn is asked for behind the leases of the paths that are written, by everybody, so that nobody waits
 * for somebody who waits.
 */
export class RoomTurns {
  readonly #leases: Leases
  readonly #site: string
  #latest: Turn | undefined

  /** @param leases that bring memory in step, when they are had, with what others have committed */
  constructor(leases: Leases, site: string) {
    this.#leases = leases
    this.#site = site
  }

  /**
   * Waits for the turn of this process.
   *
   * @returns to be called when the commit has come to its end
   * @throws LeaseTimeout, LeaseError
   */
  async take(): Promise<() => void> {
    if (this.#latest === undefined || this.#latest.joined === MOST) this.#latest = this.#begin()
    const turn = this.#latest
    turn.joined++
    turn.underWay++
    const leave = () => {
      if (--turn.underWay > 0) return
      if (this.#latest === turn) this.#latest = undefined
      turn.end()
    }
    try {
      await turn.begun
    } catch (error) {
      leave()
      throw error
    }
    return leave
  }

  #begin(): Turn {
    const ended = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    this.#leases
      .hold(this.#site, [ROOM], () => {
        begun.resolve()
        return ended.promise
      })
      .catch(begun.reject)
    return { joined: 0, underWay: 0, begun: begun.promise, end: ended.resolve }
  }
}
