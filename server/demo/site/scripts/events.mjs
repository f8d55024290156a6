// The calendar: what a visitor proposes goes to the server as it was typed, and the server says what is wrong with it.
import { append, permissions } from './elements.mjs'
import { element } from './markup.mjs'
import { announce, explain, hush, say } from './notices.mjs'
import { follow } from './stream.mjs'

const list = document.querySelector('#events')
const form = document.querySelector('#event-form')
const notice = form.querySelector('.said')
const fields = ['name', 'date', 'place', 'code', 'text']
let sending = false

/** What a refusal means to somebody who proposes an event, by the property and check that it names. */
const reasons = {
  'name cardinality': () => 'An event needs a name.',
  'date cardinality': () => 'An event needs a day.',
  'place cardinality': () => 'An event needs a place.',
  'code cardinality': () => 'An event needs a code.',
  'text cardinality': () => 'Say in a few words what happens.',
  'date type': () => 'The day must be one that exists, written like 2027-02-14.',
  'place enum': () => 'That place is not in the calendar. Choose the park bench, the ferry landing or the town hall steps.',
  'code unique(code)': ({ code }) => `Another event is called “${code}” already. Choose another code.`,
  'date unique-group(booking)': ({ place }) => `${place} is taken on that day. Choose another day or another place.`,
  permit: () => 'No markup but <em> may stand in what happens.',
}

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })

/** A date in words; what is none stays as it was typed, for the server to judge. */
function inWords(date) {
  const time = Date.parse(`${date}T00:00:00Z`)
  return Number.isNaN(time) ? date : day.format(time)
}

/**
 * Markup of an event. A field that is empty is left out: whether it may be missing is for the server to say. What happens
 * goes in as it was typed, for the server to judge; no browser sees it before that.
 */
function event({ name, date, place, code, text }) {
  const filled = (value, ...node) => (value === '' ? [] : [element(...node), ' '])
  const by = element(
    'p',
    { class: 'by' },
    ...filled(place, 'b', { class: 'name', itemprop: 'place' }, place),
    ...filled(date, 'time', { itemprop: 'date', datetime: date }, inWords(date)),
    ...filled(code, 'code', { itemprop: 'code' }, code),
  )
  const item = element(
    'li',
    { class: 'event', itemscope: '', itemtype: 'https://bench.example/Event' },
    ...filled(name, 'h3', { itemprop: 'name' }, name),
    by,
  )
  const lines = text.split(/\s*\n\s*/).filter(line => line !== '')
  const paragraphs = lines.map(line => `<p itemprop="text">${line}</p>`)
  return item.outerHTML.replace(/<\/li>$/, () => `${paragraphs.join('')}</li>`)
}

/** The sentences for what validation found, each once; nothing when it found nothing that is known here. */
function told(violations, values) {
  const known = violations.flatMap(({ check, failedConstraint, property }) => {
    const found = check ?? failedConstraint
    const reason = reasons[property ? `${property} ${found}` : found]
    return reason ? [reason(values)] : []
  })
  return [...new Set(known)].join(' ')
}

/**
 * Says below each field what is wrong with it; markup that is not permitted can only stand in the last.
 * @returns the sentences
 */
function mark(violations, values) {
  const sentences = fields.flatMap(field => {
    const control = form.elements[field]
    const id = `event-${field}-wrong`
    form.querySelector(`#${id}`)?.remove()
    const hints = control.getAttribute('aria-describedby')?.split(' ').filter(hint => hint !== id) ?? []
    const wrong = violations.filter(({ property }) => (property ?? 'text') === field)
    const sentence = told(wrong, values)
    if (sentence) {
      control.closest('label').after(element('p', { class: 'wrong', id }, sentence))
      hints.push(id)
    }
    if (wrong.length > 0) control.setAttribute('aria-invalid', 'true')
    else control.removeAttribute('aria-invalid')
    if (hints.length > 0) control.setAttribute('aria-describedby', hints.join(' '))
    else control.removeAttribute('aria-describedby')
    return sentence ? [sentence] : []
  })
  form.querySelector('[aria-invalid]')?.focus()
  return sentences
}

form.addEventListener('submit', async submitted => {
  submitted.preventDefault()
  if (sending) return
  const values = Object.fromEntries(fields.map(field => [field, form.elements[field].value.trim()]))
  sending = true
  hush(notice)
  mark([], values)
  try {
    const { element: stored } = await append('#events', event(values))
    stored.classList.add('fresh')
    list.append(stored)
    form.reset()
    say(notice, 'Thank you. The event is in the calendar.')
  } catch (error) {
    const sentences = mark(error.violations ?? [], values)
    const kept = 'Your words are still in the form.'
    say(notice, `${sentences.length > 0 ? 'Not yet: please look at the marked fields.' : explain(error)} ${kept}`, 'problem')
    if (sentences.length > 0) announce(`${sentences.join(' ')} ${kept}`)
  } finally {
    sending = false
  }
})

// What others propose in the meantime.
follow(list, events => {
  for (const one of events) one.classList.add('fresh')
  if (events.length > 0) announce('Somebody proposed an event.')
})

try {
  form.hidden = !(await permissions()).on(list).has('POST')
} catch {
  // Whoever cannot ask cannot write either; the calendar stays readable.
}
