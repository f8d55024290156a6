// The comments under an article: the form appears when the rules let this visitor add one.
import { append, permissions } from './elements.mjs'
import { note, today } from './markup.mjs'
import { announce, explain, hush, say } from './notices.mjs'
import { follow } from './stream.mjs'

const list = document.querySelector('#comments')
const form = document.querySelector('#comment-form')
const notice = form.querySelector('.said')
let sending = false

form.addEventListener('submit', async event => {
  event.preventDefault()
  if (sending) return
  const [name, text] = ['name', 'text'].map(field => form.elements[field].value.trim())
  if (name === '' || text === '') return say(notice, 'A comment needs a name and a few words.', 'problem')
  sending = true
  hush(notice)
  try {
    const { element } = await append('#comments', note({ name, date: today(), text }, { class: 'comment' }))
    element.classList.add('fresh')
    list.append(element)
    form.elements.text.value = ''
    say(notice, 'Thank you. Your comment is on the page.')
  } catch (error) {
    say(notice, `${explain(error)} Your words are still in the form.`, 'problem')
  } finally {
    sending = false
  }
})

// What others say in the meantime.
follow(list, comments => {
  for (const comment of comments) comment.classList.add('fresh')
  if (comments.length > 0) announce('Somebody added a comment.')
})

try {
  form.hidden = !(await permissions()).on(list).has('POST')
} catch {
  // Whoever cannot ask cannot write either; the comments stay readable.
}
