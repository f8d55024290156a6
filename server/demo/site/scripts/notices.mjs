// Says what happened, in sight and to screen readers, in the words of the house.
import { Refusal } from './elements.mjs'
import { element } from './markup.mjs'

const answers = {
  401: 'The house rules do not allow that here.',
  403: 'The house rules do not allow that here.',
  404: 'This page is no longer there.',
  413: 'That is too long for this page.',
  416: 'It is no longer there: somebody took it away meanwhile.',
  422: 'The page does not take markup of this form.',
  423: 'An editor has this page locked. Please try again in a while.',
}

/** A sentence for an error that a request ended with. */
export function explain(error) {
  if (!(error instanceof Refusal)) return 'The server cannot be reached. Nothing was lost here: try again in a moment.'
  return answers[error.status] ?? `The server could not do that just now (${error.message}). Please try again.`
}

// One live region for the whole page, there before it is needed: readers miss regions that arrive with their text.
const announcer = element('div', { class: 'aside-voice', role: 'status' })
document.body.append(announcer)

/**
 * Shows a notice in `place`, instead of the one that is there, and announces it.
 * @param {Element} place
 * @param {string} text
 * @param {'done' | 'problem'} kind
 */
export function say(place, text, kind = 'done') {
  place.replaceChildren(element('p', { class: 'notice', 'data-kind': kind }, text))
  announce(text)
}

/** Tells those who cannot see it that something on the page has changed. */
export function announce(text) {
  announcer.textContent = text
}

export const hush = place => place.replaceChildren()
