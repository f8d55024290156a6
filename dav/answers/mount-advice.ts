/** How to open the mount as a drive, for whoever looks at it with a browser: first on the system that it runs on. */

import { davfsCommands } from '../../edge/mount-recipes.ts'
import { escapeMarkup } from '../../pipeline/http/markup.ts'

/** Systems for which there is advice, in the order in which others are told of them. */
const SYSTEMS = ['mac', 'windows', 'linux', 'phone'] as const

export type System = (typeof SYSTEMS)[number]

const TITLES: Readonly<Record<System, string>> = {
  mac: 'Finder, on a Mac',
  windows: 'Explorer, on Windows',
  linux: 'Files and terminals, on Linux',
  phone: 'Phones and tablets',
}

/** What browsers call their system. A phone names the system of its relatives as well, so it is asked first. */
const NAMES: readonly [System, RegExp][] = [
  ['phone', /iPhone|iPad|Android|Mobile/],
  ['windows', /Windows/],
  ['mac', /Macintosh|Mac OS X/],
  ['linux', /Linux|X11|BSD|CrOS/],
]

/** @param userAgent field of the request; undefined where it names no system that is known */
export function systemOf(userAgent: string | undefined): System | undefined {
  return NAMES.find(([, name]) => name.test(userAgent ?? ''))?.[0]
}

/**
 * @param address of the mount's root, with a slash at its end
 * @returns markup of headings, steps and, folded away, the advice for other systems
 */
export function mountAdvice(address: string, system: System = 'mac'): string {
  const others = SYSTEMS.filter(other => other !== system)
  const further = others.map(other => `<details><summary>${TITLES[other]}</summary>${steps(other, address)}</details>`)
  return `<h3>${TITLES[system]}</h3>${steps(system, address)}<h3>Elsewhere</h3>${further.join('')}`
}

interface Advice {
  /** One after another, or else one of them. */
  steps: readonly string[]
  alternatives?: true
  note?: string
}

function steps(system: System, address: string): string {
  const { steps, alternatives, note } = ADVICE[system](address)
  const list = alternatives ? 'ul' : 'ol'
  const items = steps.map(step => `<li>${step}</li>`).join('')
  return `<${list}>${items}</${list}>${note === undefined ? '' : `<p>${note}</p>`}`
}

const SAME = 'the name and password that you have just used here'

const ADVICE: Readonly<Record<System, (address: string) => Advice>> = {
  mac: address => ({
    steps: [
      'In Finder, <b>Go › Connect to Server</b> (<kbd>⌘K</kbd>).',
      `Paste this address: ${code(address)}`,
      `Connect as <b>Registered User</b>, with ${SAME}.`,
    ],
  }),
  windows: address => ({
    steps: [
      'In Explorer, <b>This PC › Map network drive</b>.',
      `Paste this address: ${code(address)}`,
      `Tick <b>Connect using different credentials</b>, and give ${SAME}.`,
    ],
    ...(!address.startsWith('https:') && {
      note: 'Windows sends passwords over HTTPS only, unless <b>BasicAuthLevel</b> of its WebClient is 2.',
    }),
  }),
  linux: address => ({
    steps: [
      `In Files, <b>Other Locations › Connect to Server</b>: ${code(address.replace(/^http/, 'dav'))}`,
      `In Dolphin, as location: ${code(address.replace(/^http/, 'webdav'))}`,
      `For every program, with davfs2: ${davfsCommands(address).map(code).join('')}`,
    ],
    alternatives: true,
    note: `You are asked for ${SAME}.`,
  }),
  phone: address => ({
    steps: [
      'In an app that edits files over <b>WebDAV</b>, add a server.',
      `Paste this address: ${code(address)}`,
      `Sign in with ${SAME}.`,
    ],
  }),
}

function code(text: string): string {
  return `<code>${escapeMarkup(text)}</code>`
}
