// The guest book: sign it, and mend, move or delete what stands in it, as far as the rules permit.
import { append, move, permissions, Refusal, read, readAll, remove, replace } from './elements.mjs'
import { editor } from './editor.mjs'
import { element, note, noteContent, today } from './markup.mjs'
import { explain, hush, say } from './notices.mjs'

const list = document.querySelector('#entries')
const form = document.querySelector('#sign-form')
const said = form.querySelector('.said')

/** Entity tag of each entry as it is shown here, by id: what makes a lost update noticeable. */
const tags = new Map()
let permitted = { page: new Set(), on: () => new Set() }

const address = item => `#${CSS.escape(item.id)}`
const newId = () => `entry-${[...crypto.getRandomValues(new Uint8Array(6))].map(byte => byte.toString(16).padStart(2, '0')).join('')}`
const status = error => (error instanceof Refusal ? error.status : undefined)

/** Puts an entry that the server sent in the place of the one shown, or at the end. */
function show({ element: item, tag }, old) {
  if (tag) tags.set(item.id, tag)
  if (old) old.replaceWith(item)
  else list.append(item)
  equip(item)
  return item
}

/** The actions under an entry: only those that would be permitted and make sense where it stands. */
function equip(item) {
  const on = permitted.on(item)
  const name = noteContent(item).name
  const place = element('div', { class: 'said' })
  const acts = element('div', { class: 'acts' })
  const act = (label, action) => {
    const button = element('button', { type: 'button', class: 'quiet', 'aria-label': `${label}: entry of ${name}` }, label)
    button.addEventListener('click', () => action(button))
    acts.append(button)
    return button
  }
  if (on.has('PUT')) act('Edit', () => edit(item, acts, place))
  if (permitted.page.has('MOVE') && on.has('DELETE') && permitted.on(list).has('POST')) {
    act('Move up', button => shift(item, 'previousElementSibling', 'before', button)).dataset.way = 'up'
    act('Move down', button => shift(item, 'nextElementSibling', 'after', button)).dataset.way = 'down'
  }
  if (on.has('DELETE')) act('Delete', () => ask(item, acts, place))
  item.append(place, acts)
  settle()
}

/** The first entry cannot go up, the last not down. */
function settle() {
  for (const item of list.children) {
    for (const button of item.querySelectorAll('[data-way]')) {
      button.hidden = button.dataset.way === 'up' ? item === list.firstElementChild : item === list.lastElementChild
    }
  }
  document.querySelector('#no-entries').hidden = list.childElementCount > 0
}

/** Shows the book as it stands now; entries that did not change keep their place in the page. */
async function refresh() {
  const entries = await readAll('#entries > li')
  tags.clear()
  list.replaceChildren()
  for (const entry of entries) show(entry)
  settle()
}

/** An entry that somebody deleted meanwhile leaves this page too. */
function vanish(item) {
  const neighbour = item.nextElementSibling ?? item.previousElementSibling
  item.remove()
  tags.delete(item.id)
  settle()
  ;(neighbour?.querySelector('.acts button:not([hidden])') ?? form.elements.name).focus()
  return neighbour?.querySelector('.said') ?? said
}

function edit(item, acts, place) {
  const { date } = noteContent(item)
  const parts = [...item.children].filter(child => child !== place)
  const reveal = open => {
    for (const part of parts) part.hidden = open
    acts.hidden = open
  }
  const close = shown => {
    reveal(false)
    const button = shown.querySelector('.acts button:not([hidden])')
    button?.focus()
  }
  hush(place)
  reveal(true)
  const slip = editor(noteContent(item), {
    cancel() {
      slip.remove()
      hush(place)
      close(item)
    },
    async save(words) {
      try {
        const written = note({ ...words, date }, { id: item.id, class: 'entry' })
        const shown = show(await replace(address(item), written, tags.get(item.id)), item)
        shown.classList.add('fresh')
        close(shown)
        say(shown.querySelector('.said'), 'Saved.')
      } catch (error) {
        if (status(error) === 412) await conflict(words)
        else if (status(error) === 416) say(vanish(item), explain(error), 'problem')
        else say(place, `${explain(error)} Your words are still in the form.`, 'problem')
      }
    },
  })
  item.append(slip)
  slip.elements.text.focus()

  /** The entry is no longer what was read: show theirs, keep ours in the form, and let the visitor decide. */
  async function conflict(words) {
    try {
      const theirs = await read(address(item))
      const shown = show(theirs, item)
      edit(shown, shown.querySelector('.acts'), shown.querySelector('.said'))
      for (const part of shown.querySelectorAll(':scope > p')) part.hidden = false
      const again = shown.querySelector('form')
      again.elements.name.value = words.name
      again.elements.text.value = words.text
      say(
        shown.querySelector('.said'),
        'Somebody changed this meanwhile. It now reads as above; your words are still in the form. Save again to replace theirs, or cancel to keep theirs.',
        'problem',
      )
    } catch (error) {
      if (status(error) === 416) say(vanish(item), explain(error), 'problem')
      else say(place, explain(error), 'problem')
    }
  }
}

function ask(item, acts, place) {
  const before = [...acts.childNodes]
  const button = (label, kind) => element('button', { type: 'button', class: kind }, label)
  const yes = button('Yes, delete', 'danger')
  const no = button('Keep it', 'quiet')
  const back = () => {
    acts.replaceChildren(...before)
    settle()
  }
  hush(place)
  acts.replaceChildren(element('span', { class: 'ask' }, 'Delete this entry?'), yes, no)
  no.focus()
  no.addEventListener('click', () => {
    back()
    acts.querySelector('button:last-child').focus()
  })
  yes.addEventListener('click', async () => {
    try {
      await remove(address(item), tags.get(item.id))
      say(vanish(item), 'The entry is gone.')
    } catch (error) {
      if (status(error) === 416) return say(vanish(item), explain(error), 'problem')
      back()
      if (status(error) !== 412) return say(place, explain(error), 'problem')
      const shown = show(await read(address(item)), item)
      shown.querySelector('.acts button').focus()
      say(shown.querySelector('.said'), 'Somebody changed this meanwhile, so it was not deleted. It now reads as above.', 'problem')
    }
  })
}

async function shift(item, towards, placement, button) {
  const neighbour = item[towards]
  if (neighbour === null) return
  try {
    await move(address(item), address(neighbour), placement)
    neighbour[placement](item)
    settle()
    const next = button.hidden ? item.querySelector('[data-way]:not([hidden])') : button
    next?.focus()
    const position = [...list.children].indexOf(item) + 1
    say(item.querySelector('.said'), `Moved: now number ${position} of ${list.childElementCount}.`)
  } catch (error) {
    if (status(error) !== 416) return say(item.querySelector('.said'), explain(error), 'problem')
    await refresh()
    say(said, 'Somebody changed the book meanwhile. This is how it stands now.', 'problem')
  }
}

let sending = false
form.addEventListener('submit', async event => {
  event.preventDefault()
  if (sending) return
  const [name, text] = ['name', 'text'].map(field => form.elements[field].value.trim())
  if (name === '' || text === '') return say(said, 'An entry needs a name and a few words.', 'problem')
  sending = true
  hush(said)
  try {
    const item = show(await append('#entries', note({ name, date: today(), text }, { id: newId(), class: 'entry' })))
    item.classList.add('fresh')
    form.reset()
    say(said, 'Signed. Thank you for coming by.')
  } catch (error) {
    say(said, `${explain(error)} Your words are still in the form.`, 'problem')
  } finally {
    sending = false
  }
})

try {
  permitted = await permissions()
  form.hidden = !permitted.on(list).has('POST')
  await refresh()
} catch {
  // Whoever cannot ask cannot write either; the book stays readable.
}
