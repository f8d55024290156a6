/** Names of pseudo-classes and pseudo-elements of CSS, by what the engine makes of them. */

import { wordsOf } from '../ascii.ts'

const words = (text: string): ReadonlySet<string> => new Set(wordsOf(text))

/** Pseudo-classes without argument that a stored document decides. */
export const STATES = words(`
  root scope empty any-link link checked unchecked default defined disabled enabled indeterminate optional required
  placeholder-shown read-only read-write blank open heading`)

/**
 * Pseudo-classes without argument that depend on a user, a player, a window or a visit. They are valid and never true,
 * so that a style sheet's selector can be asked.
 */
export const DYNAMIC = words(`
  active active-view-transition autofill -webkit-autofill buffering current focus focus-visible focus-within fullscreen
  future has-slotted host hover local-link modal muted past paused picture-in-picture playing popover-open seeking
  stalled target target-after target-before target-current user-invalid user-valid visited volume-locked`)

/** The same with an argument, which is not looked at. */
export const DYNAMIC_FUNCTIONS = words('active-view-transition-type current host host-context local-link state')

/** Those that may stand behind a pseudo-element (Selectors 4 §3.6.3). */
export const USER_ACTIONS = words('active focus focus-visible focus-within hover')

/** Pseudo-elements; they match no element. */
export const PSEUDO_ELEMENTS = words(`
  after backdrop before checkmark column cue details-content file-selector-button first-letter first-line
  grammar-error marker picker-icon placeholder prefix scroll-marker scroll-marker-group search-text selection
  slider-fill slider-thumb slider-track spelling-error suffix target-text view-transition`)

export const PSEUDO_ELEMENT_FUNCTIONS = words(`
  cue highlight part picker scroll-button slotted view-transition-group view-transition-group-children
  view-transition-image-pair view-transition-new view-transition-old`)

/** Those that are elements in some other tree, so that anything may follow them (CSS Pseudo 4 §4). */
export const ELEMENT_BACKED = words('details-content file-selector-button part slotted')

/** Pseudo-elements that CSS 2 wrote with one colon. */
export const LEGACY_PSEUDO_ELEMENTS = words('after before first-letter first-line')

/** Pseudo-classes that are short for place 1, from which end and among which siblings. */
export const POSITIONS: ReadonlyMap<string, { last: boolean; ofType: boolean }[]> = new Map([
  ['first-child', [{ last: false, ofType: false }]],
  ['last-child', [{ last: true, ofType: false }]],
  ['first-of-type', [{ last: false, ofType: true }]],
  ['last-of-type', [{ last: true, ofType: true }]],
  [
    'only-child',
    [
      { last: false, ofType: false },
      { last: true, ofType: false },
    ],
  ],
  [
    'only-of-type',
    [
      { last: false, ofType: true },
      { last: true, ofType: true },
    ],
  ],
])
