// Prints the two halftone pictures of the demo site, in two inks like a cheap good poster. Run once, by hand:
// `node server/demo/print.ts`; the pictures it writes to site/images are part of the site.
import { writeFileSync } from 'node:fs'
import { crc32, deflateSync } from 'node:zlib'

type Point = { x: number; y: number }
type Colour = readonly [number, number, number]
/** How much of an ink a place takes, 0 to 1; x and y run over the sheet in units of its height. */
type Plate = (at: Point) => number
type Print = { name: string; paper: Colour; inks: readonly [Colour, Colour]; plates: readonly [Plate, Plate] }

const WIDTH = 960
const HEIGHT = 640
/** Steps of each ink: four of each make the sixteen colours of a 4-bit palette. */
const STEPS = 4
/** Distance of two dots of the screen, in pixels. */
const SCREEN = 6.5

const clamp = (value: number) => Math.min(1, Math.max(0, value))
/** 1 inside the box, 0 outside. */
const box = ({ x, y }: Point, left: number, top: number, right: number, bottom: number) =>
  x >= left && x <= right && y >= top && y <= bottom ? 1 : 0
const disc = ({ x, y }: Point, cx: number, cy: number, r: number) => (Math.hypot(x - cx, y - cy) <= r ? 1 : 0)
/** Fades from 1 at `full` to 0 at `none`. */
const fade = (value: number, full: number, none: number) => clamp((none - value) / (none - full))

/** A bench from behind: three slats of back, two of seat, two iron ends. */
function bench(at: Point, left: number, ground: number, size: number): number {
  const p = { x: (at.x - left) / size, y: (at.y - ground) / size }
  const slats = [-0.5, -0.42, -0.34, -0.22, -0.17].map(y => box(p, 0, y, 1, y + (y < -0.3 ? 0.058 : 0.034)))
  const ends = [0.07, 0.87].map(x =>
    Math.max(box(p, x, -0.53, x + 0.05, 0), box(p, x - 0.035, -0.025, x + 0.085, 0), disc(p, x + 0.025, -0.53, 0.025)),
  )
  return Math.max(...slats, ...ends)
}

/** The far shore as a sum of two waves. */
const shore = (x: number) => 0.505 - 0.035 * Math.sin(x * 2.6 + 0.4) - 0.014 * Math.sin(x * 9.1)

const SUN = { x: 0.98, y: 0.34, r: 0.145 }

const estuary: Print = {
  name: 'estuary',
  paper: [244, 245, 238],
  inks: [
    [255, 186, 38],
    [24, 74, 110],
  ],
  plates: [
    at => {
      if (at.y > 0.83) return at.y > 0.845 ? 0.72 : 0.3
      const glow = fade(Math.hypot(at.x - SUN.x, at.y - SUN.y), SUN.r, 0.72) * 0.55
      if (at.y < 0.54) return Math.max(disc(at, SUN.x, SUN.y, SUN.r), glow)
      const glitter = fade(Math.abs(at.x - SUN.x), 0.03, 0.16 + (at.y - 0.54) * 0.3)
      return Math.max(glitter * (Math.sin(at.y * 150 + Math.sin(at.x * 23)) > -0.1 ? 1 : 0.15), glow * 0.5)
    },
    at => {
      if (bench(at, 0.34, 0.9, 0.5) === 1) return 1
      const lamp = Math.max(
        box(at, 0.198, 0.2, 0.21, 0.9),
        box(at, 0.176, 0.13, 0.232, 0.2),
        box(at, 0.166, 0.117, 0.242, 0.13),
      )
      if (lamp === 1) return 1
      // The lawn, its stone edge, and the long shadows that the sun behind them throws.
      const shade = at.y > 0.86 && at.y < 0.96 && Math.abs(at.x - 0.55 + (at.y - 0.86) * 1.9) < 0.24
      if (at.y > 0.83) return at.y < 0.845 ? 0.9 : shade ? 0.8 : 0.36
      const gulls = [
        [0.55, 0.2, 0.045],
        [0.64, 0.16, 0.032],
        [0.44, 0.27, 0.028],
      ].some(([cx = 0, cy = 0, r = 0]) =>
        [-1, 1].some(side => {
          const d = Math.hypot(at.x - cx - side * r, at.y - cy - r * 0.55)
          return Math.abs(d - r) < 0.0045 && at.y < cy + r * 0.1
        }),
      )
      if (gulls) return 1
      if (disc(at, SUN.x, SUN.y, SUN.r) === 1) return 0
      if (at.y < 0.54) {
        const hill = at.y > shore(at.x) ? 0.74 : 0
        const second = at.y > 0.525 - 0.05 * Math.sin(at.x * 1.7 + 2.2) ? 0.9 : 0
        return Math.max(hill, second, fade(at.y, -0.12, 0.5) * 0.62)
      }
      const wave = Math.sin(at.y * 190 - at.x * 5 + Math.sin(at.x * 13 + at.y * 40) * 1.4)
      return wave > 0.35 ? 0.62 : 0.2 + (at.y - 0.54) * 0.7
    },
  ],
}

/** Strokes of rain, slanted, never in front of the lit glass. */
function rain({ x, y }: Point): number {
  const across = x + y * 0.22
  const lane = Math.floor(across / 0.021)
  const offset = (Math.imul(lane, 2654435761) >>> 8) / 2 ** 24
  const along = (y * 3.1 + offset * 7) % 1
  return Math.abs(across / 0.021 - lane - 0.5) < 0.09 && along < 0.3 ? 1 : 0
}

const inShelter = (at: Point) => box(at, 0.42, 0.33, 1.14, 0.8)

const shelter: Print = {
  name: 'shelter',
  paper: [245, 244, 238],
  inks: [
    [255, 178, 44],
    [18, 58, 62],
  ],
  plates: [
    at => {
      const pool = Math.hypot((at.x - 0.78) / 0.74, (at.y - 0.83) / 0.12)
      if (at.y > 0.8) return fade(pool, 0.25, 1) * 0.95
      if (inShelter(at) === 1) return 0.92 - fade(at.y, 0.33, 0.1) * 0.2
      return fade(Math.hypot(at.x - 0.78, at.y - 0.56), 0.3, 0.75) * 0.5
    },
    at => {
      const roof = at.y > 0.27 + (at.x - 0.36) * 0.03 && at.y < 0.325 && at.x > 0.36 && at.x < 1.2 ? 1 : 0
      const posts = [0.42, 0.655, 0.895, 1.128].some(x => box(at, x, 0.32, x + 0.012, 0.82) === 1)
      const seat = Math.max(
        box(at, 0.69, 0.665, 1.1, 0.685),
        box(at, 0.715, 0.685, 0.727, 0.8),
        box(at, 1.065, 0.685, 1.077, 0.8),
      )
      const pole = Math.max(box(at, 1.274, 0.27, 1.286, 0.86), disc(at, 1.28, 0.24, 0.062))
      // Somebody waiting, with a hat, and a dog who has waited longer.
      const sitter = Math.max(
        disc(at, 0.8, 0.475, 0.034),
        box(at, 0.752, 0.447, 0.848, 0.457),
        box(at, 0.773, 0.405, 0.827, 0.45),
        at.y > 0.505 && at.y < 0.675 && Math.abs(at.x - 0.8) < 0.034 + (at.y - 0.505) * 0.22 ? 1 : 0,
        box(at, 0.766, 0.67, 0.792, 0.81),
        box(at, 0.81, 0.67, 0.836, 0.81),
      )
      const dog = Math.max(
        at.y > 0.66 && at.y < 0.81 && Math.abs(at.x - 0.55 + (at.y - 0.66) * 0.12) < 0.026 + (at.y - 0.66) * 0.26
          ? 1
          : 0,
        box(at, 0.556, 0.66, 0.574, 0.81),
        disc(at, 0.564, 0.64, 0.034),
        box(at, 0.564, 0.636, 0.618, 0.662),
        at.y > 0.585 && at.y < 0.625 && Math.abs(at.x - 0.545) < (at.y - 0.585) * 0.4 ? 1 : 0,
        Math.abs(Math.hypot(at.x - 0.478, at.y - 0.775) - 0.035) < 0.008 && at.x < 0.49 ? 1 : 0,
      )
      if (roof || posts || seat || pole || sitter || dog)
        return disc(at, 1.28, 0.24, 0.046) && !disc(at, 1.28, 0.24, 0.036) ? 0.1 : 1
      if (inShelter(at) === 1)
        return box(at, 0.93, 0.42, 1.09, 0.6) ? ((at.y * 60) % 1 < 0.4 && at.y > 0.45 ? 0.6 : 0.12) : 0.03
      const drops = rain(at)
      if (at.y > 0.8) {
        const pool = Math.hypot((at.x - 0.78) / 0.74, (at.y - 0.83) / 0.12)
        return Math.max(0.9 - fade(pool, 0.2, 1) * 0.7, drops * 0.95)
      }
      const skyline = at.y > 0.62 - (Math.floor(at.x * 7.3) % 3) * 0.045 - (Math.floor(at.x * 3.1) % 2) * 0.06
      const sky = 0.82 - fade(Math.hypot(at.x - 0.78, at.y - 0.56), 0.3, 0.8) * 0.3
      return drops ? sky * 0.35 : skyline ? Math.min(1, sky + 0.14) : sky
    },
  ],
}

/** The threshold of a dot screen turned by `angle`, 0 to 1: dark tones grow dots, darker ones close the gaps. */
function screen(x: number, y: number, angle: number): number {
  const u = ((x * Math.cos(angle) + y * Math.sin(angle)) * 2 * Math.PI) / SCREEN
  const v = ((y * Math.cos(angle) - x * Math.sin(angle)) * 2 * Math.PI) / SCREEN
  return 0.5 + (Math.cos(u) + Math.cos(v)) / 4
}

/** Coverage of one pixel by one ink in whole steps; the edge of a dot is soft so that it survives scaling. */
function inked(tone: number, x: number, y: number, angle: number): number {
  if (tone >= 0.995) return STEPS - 1
  if (tone <= 0.01) return 0
  return Math.round(clamp((tone - screen(x, y, angle)) * 2.6 + 0.5) * (STEPS - 1))
}

/** Inks multiply: light passes the paper twice through each. */
function mix(paper: Colour, inks: readonly [Colour, Colour], first: number, second: number): number[] {
  return paper.map((channel, i) => {
    const through = (ink: Colour, amount: number) => 1 - (amount / (STEPS - 1)) * (1 - (ink[i] ?? 0) / 255)
    return Math.round(channel * through(inks[0], first) * through(inks[1], second))
  })
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const framed = Buffer.alloc(body.length + 8)
  framed.writeUInt32BE(data.length, 0)
  body.copy(framed, 4)
  framed.writeUInt32BE(crc32(body), body.length + 4)
  return framed
}

/** A PNG of 4 bits a pixel with a palette (PNG specification, sections 11.2.1 to 11.2.4). */
function png({ paper, inks, plates }: Print): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(WIDTH, 0)
  header.writeUInt32BE(HEIGHT, 4)
  header[8] = 4
  header[9] = 3
  const palette = Array.from({ length: STEPS * STEPS }, (_, i) => mix(paper, inks, Math.floor(i / STEPS), i % STEPS))
  const stride = 1 + WIDTH / 2
  const rows = Buffer.alloc(stride * HEIGHT)
  for (let y = 0; y < HEIGHT; y++) {
    for (let x = 0; x < WIDTH; x++) {
      const at = { x: x / HEIGHT, y: y / HEIGHT }
      const index = inked(plates[0](at), x, y, 0.26) * STEPS + inked(plates[1](at), x, y, 1.31)
      const byte = y * stride + 1 + (x >> 1)
      rows[byte] = (rows[byte] ?? 0) | (x % 2 === 0 ? index << 4 : index)
    }
  }
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flat())),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

for (const print of [estuary, shelter]) {
  writeFileSync(new URL(`site/images/${print.name}.png`, import.meta.url), png(print))
}
