// The form in which an entry is changed where it stands.
import { element } from './markup.mjs'

/**
 * @param {{ name: string, text: string }} words what the entry says now
 * @param {{ save(words: { name: string, text: string }): Promise<void>, cancel(): void }} on
 * @returns {HTMLFormElement}
 */
export function editor(words, on) {
  const name = element('input', { name: 'name', required: '', maxlength: '60', autocomplete: 'nickname' })
  const text = element('textarea', { name: 'text', required: '', maxlength: '2000' })
  name.value = words.name
  text.value = words.text
  const cancel = element('button', { type: 'button', class: 'quiet' }, 'Cancel')
  const form = element(
    'form',
    { class: 'slip', 'data-own': '', 'aria-label': `Entry of ${words.name}` },
    element('label', {}, 'Name', name),
    element('label', {}, 'Entry', text),
    element('div', { class: 'row' }, element('button', { type: 'submit' }, 'Save'), cancel),
  )
  let sending = false
  form.addEventListener('submit', async event => {
    event.preventDefault()
    if (sending || name.value.trim() === '' || text.value.trim() === '') return
    sending = true
    await on.save({ name: name.value.trim(), text: text.value.trim() })
    sending = false
  })
  cancel.addEventListener('click', on.cancel)
  form.addEventListener('keydown', event => {
    if (event.key === 'Escape') on.cancel()
  })
  return form
}
