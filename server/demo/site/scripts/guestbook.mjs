// The guest book: sign it, and mend, move or delete what stands in it, as far as the rules permit.
import { editor } from './editor.mjs'
import { append, move, permissions, Refusal, read, readAll, remove, replace } from './elements.mjs'
import { element, note, noteContent, today } from './markup.mjs'
import { announce, explain, hush, say } from './notices.mjs'
import { follow } from './stream.mjs'

const list = document.querySelector('#entries')
const form = document.querySelector('#sign-form')
const said = form.querySelector('.said')

/** Entity tag of each entry as this page shows it, by id: what makes a lost update noticeable. */
const tags = new Map()
/** Open forms, by the id of their entry. */
const slips = new Map()
let permitted = { page: new Set(), on: () => new Set() }

const address = item => `#${CSS.escape(item.id)}`
const place = item => item.querySelector('.said')
const status = error => (error instanceof Refusal ? error.status : undefined)

function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(6))
  return `entry-${[...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('')}`
}

/** Shows an entry as the server sent it, in the place of `old` or at the end, with its actions. */
function show({ element: item, tag }, old) {
  tags.set(item.id, tag)
  if (old) old.replaceWith(item)
  else list.append(item)
  dress(item)
  settle()
  return item
}

/** Adds what is not part of the entry: a place for notices, and its actions. */
function dress(item) {
  item.append(element('div', { class: 'said', 'data-own': '' }), actions(item))
}

/** Shows the whole book as it stands now. */
async function refresh() {
  const entries = await readAll('#entries > li')
  tags.clear()
  slips.clear()
  list.replaceChildren()
  for (const entry of entries) show(entry)
  settle()
}

/** Buttons for what this visitor may do with an entry, and for nothing else. */
function actions(item) {
  const on = permitted.on(item)
  const { name } = noteContent(item)
  const bar = element('div', { class: 'acts', 'data-own': '' })
  const add = (label, act) => {
    const button = element(
      'button',
      { type: 'button', class: 'quiet', 'aria-label': `${label}: entry of ${name}` },
      label,
    )
    button.addEventListener('click', () => act(button))
    bar.append(button)
    return button
  }
  if (on.has('PUT')) add('Edit', () => edit(item))
  // A move is a MOVE of the page, a DELETE where it starts and a POST where it ends.
  if (permitted.page.has('MOVE') && on.has('DELETE') && permitted.on(list).has('POST')) {
    add('Move up', button => shift(item, item.previousElementSibling, 'before', button)).dataset.way = 'up'
    add('Move down', button => shift(item, item.nextElementSibling, 'after', button)).dataset.way = 'down'
  }
  if (on.has('DELETE')) add('Delete', () => ask(item))
  return bar
}

/** The first entry cannot go up, the last not down; an empty book says so. */
function settle() {
  for (const button of list.querySelectorAll('[data-way]')) {
    const end = button.dataset.way === 'up' ? list.firstElementChild : list.lastElementChild
    button.hidden = button.closest('li') === end
  }
  document.querySelector('#no-entries').hidden = list.childElementCount > 0
}

const focusFirst = item => item.querySelector('.acts button:not([hidden])')?.focus()

/** Takes an entry off the page that is no longer in the book; returns where to say so. */
function vanish(item) {
  const neighbour = item.nextElementSibling ?? item.previousElementSibling
  item.remove()
  tags.delete(item.id)
  slips.delete(item.id)
  settle()
  if (neighbour === null) {
    form.elements.name.focus()
    return said
  }
  focusFirst(neighbour)
  return place(neighbour)
}

/** After a 412: shows the entry as others left it. Undefined when it is gone altogether. */
async function reload(item) {
  try {
    return show(await read(address(item)), item)
  } catch (error) {
    if (status(error) === 416) say(vanish(item), explain(error), 'problem')
    else say(place(item), explain(error), 'problem')
    return undefined
  }
}

/** Opens the form for an entry, with its own words or with those the visitor already typed. */
function edit(item, words = noteContent(item)) {
  const { date } = noteContent(item)
  const covered = [...item.querySelectorAll(':scope > p, :scope > .acts')]
  const cover = hidden => {
    for (const part of covered) part.hidden = hidden
  }
  const slip = editor(words, {
    cancel() {
      slips.delete(item.id)
      slip.remove()
      hush(place(item))
      cover(false)
      focusFirst(item)
    },
    async save(typed) {
      const written = note({ ...typed, date }, { id: item.id, class: 'entry' })
      try {
        const saved = show(await replace(address(item), written, tags.get(item.id)), item)
        slips.delete(item.id)
        saved.classList.add('fresh')
        focusFirst(saved)
        say(place(saved), 'Saved.')
      } catch (error) {
        if (status(error) === 412) await conflict(item, typed)
        else if (status(error) === 416) say(vanish(item), explain(error), 'problem')
        else say(place(item), `${explain(error)} Your words are still in the form.`, 'problem')
      }
    },
  })
  hush(place(item))
  cover(true)
  item.append(slip)
  slips.set(item.id, slip)
  slip.elements.text.focus()
}

async function conflict(item, typed) {
  const theirs = await reload(item)
  if (theirs !== undefined) contest(theirs, typed)
}

/** Somebody was faster: show theirs, keep ours in the form, and let the visitor decide with both in sight. */
function contest(theirs, typed) {
  edit(theirs, typed)
  for (const part of theirs.querySelectorAll(':scope > p')) part.hidden = false
  say(
    place(theirs),
    'Somebody changed this meanwhile. It now reads as above; your words are still in the form. ' +
      'Save again to replace theirs, or cancel to keep theirs.',
    'problem',
  )
}

/** Asks before deleting, in the place of the buttons. */
function ask(item) {
  const bar = item.querySelector('.acts')
  const button = (label, kind) => element('button', { type: 'button', class: kind }, label)
  const yes = button('Yes, delete', 'danger')
  const no = button('Keep it', 'quiet')
  const back = () => {
    bar.replaceWith(actions(item))
    settle()
    item.querySelector('.acts button:last-child').focus()
  }
  hush(place(item))
  bar.replaceChildren(element('span', { class: 'ask' }, 'Delete this entry?'), yes, no)
  no.focus()
  no.addEventListener('click', back)
  yes.addEventListener('click', async () => {
    try {
      await remove(address(item), tags.get(item.id))
      say(vanish(item), 'The entry is gone.')
    } catch (error) {
      if (status(error) === 416) return say(vanish(item), explain(error), 'problem')
      back()
      if (status(error) !== 412) return say(place(item), explain(error), 'problem')
      const theirs = await reload(item)
      if (theirs === undefined) return
      focusFirst(theirs)
      say(place(theirs), 'Somebody changed this meanwhile, so it was not deleted. It now reads as above.', 'problem')
    }
  })
}

async function shift(item, neighbour, placement, button) {
  if (neighbour === null) return
  try {
    await move(address(item), address(neighbour), placement)
    neighbour[placement](item)
    settle()
    // Where the entry reached an end, its button is gone and the other one takes the focus.
    const next = button.hidden ? item.querySelector('[data-way]:not([hidden])') : button
    next?.focus()
    const position = [...list.children].indexOf(item) + 1
    say(place(item), `Moved: now number ${position} of ${list.childElementCount}.`)
  } catch (error) {
    if (status(error) !== 416) return say(place(item), explain(error), 'problem')
    await refresh()
    say(said, 'Somebody changed the book meanwhile. This is how it stands now.', 'problem')
  }
}

/** What others do to the book while it lies open here: entries that came or changed, with the tag of the first. */
function arrive(elements, tag) {
  for (const item of elements.filter(element => element.parentElement === list)) {
    if (tag && item === elements[0]) tags.set(item.id, tag)
    else read(address(item)).then(({ tag }) => tags.set(item.id, tag), () => {})
    if (place(item)) continue
    dress(item)
    item.classList.add('fresh')
    const slip = slips.get(item.id)
    if (slip) contest(item, { name: slip.elements.name.value, text: slip.elements.text.value })
    else announce(`Somebody wrote in the book: entry of ${noteContent(item).name}.`)
  }
  for (const id of slips.keys()) {
    if (document.getElementById(id)) continue
    slips.delete(id)
    say(said, 'The entry that you were changing is gone: somebody took it away meanwhile.', 'problem')
  }
  settle()
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
  await refresh()
  // What is signed before would be taken for something that has gone meanwhile.
  form.hidden = !permitted.on(list).has('POST')
  follow(list, arrive)
} catch {
  // Whoever cannot ask cannot write either; the book stays readable.
}
