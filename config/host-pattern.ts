/** Patterns of hosts: `*` for any characters, `?` for one, `{a,b}` for alternatives, none within another. */

/** A position of a pattern, in which a host may stand after some of its characters. */
interface Place {
  /** The one character that leads to `next`; undefined for any. */
  character?: string
  /** Places that hold without a further character. */
  free: number[]
  next: number
}

/**
 * Makes the test of a pattern. It takes as long as the host and the pattern together are, one for each character of the
 * other: regular expressions try every way in which alternatives may follow each other.
 */
export function hostPattern(pattern: string): (host: string) => boolean {
  const places = placesOf(pattern)
  const end = places.length
  const enter = (place: number, into: Set<number>) => {
    if (into.has(place)) return
    into.add(place)
    for (const free of places[place]?.free ?? []) enter(free, into)
  }
  return host => {
    let reached = new Set<number>()
    enter(0, reached)
    for (const character of host) {
      const further = new Set<number>()
      for (const at of reached) {
        const place = places[at]
        if (place && place.next >= 0 && (place.character ?? character) === character) enter(place.next, further)
      }
      if (further.size === 0) return false
      reached = further
    }
    return reached.has(end)
  }
}

/** Alternatives begin at their brace and end behind its other one. */
function placesOf(pattern: string): Place[] {
  const places: Place[] = []
  let opened = -1
  let ends: number[] = []
  for (const [at, character] of [...pattern].entries()) {
    const next = at + 1
    if (character === '*') places.push({ free: [next], next: at })
    else if (character === '?') places.push({ free: [], next })
    else if (character === '{') {
      opened = at
      ends = []
      places.push({ free: [next], next: -1 })
    } else if (character === ',' && opened !== -1) {
      places[opened]?.free.push(next)
      ends.push(at)
      places.push({ free: [], next: -1 })
    } else if (character === '}') {
      opened = -1
      for (const end of ends) places[end]?.free.push(next)
      places.push({ free: [next], next: -1 })
    } else places.push({ character, free: [], next })
  }
  return places
}
