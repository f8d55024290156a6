// The reading list of the archive: an element that each visitor has a version of. It is written like any other element, and
// no house rule is needed for it.
import { element } from './markup.mjs'
import { explain, say } from './notices.mjs'

const list = document.querySelector('#reading-list')
const notice = document.querySelector('.said')

async function change(method, selector, body) {
  const headers = { Range: `selector=${selector}`, 'Content-Type': 'text/html' }
  const response = await fetch(location.pathname, { method, headers, body, cache: 'no-store' })
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`)
}

const kept = path => [...list.children].find(item => item.querySelector('a')?.getAttribute('href') === path)

function withButton(item) {
  const title = item.querySelector('a').textContent
  const drop = element('button', { type: 'button', class: 'quiet', 'aria-label': `Take off: ${title}` }, 'Take off')
  drop.addEventListener('click', () => act(() => remove(item), 'It is off your list.'))
  item.append(' ', drop)
}

async function remove(item) {
  const path = item.querySelector('a').getAttribute('href')
  await change('DELETE', `#reading-list > li:has(a[href="${path}"])`)
  item.remove()
}

async function keep(link) {
  const path = link.getAttribute('href')
  if (kept(path)) return
  const item = element('li', {}, element('a', { href: path }, link.textContent))
  await change('POST', '#reading-list', item.outerHTML)
  withButton(item)
  list.append(item)
}

async function act(work, done) {
  try {
    await work()
    say(notice, done)
  } catch (error) {
    say(notice, explain(error), 'problem')
  }
}

for (const item of list.children) withButton(item)
for (const button of document.querySelectorAll('.keep')) {
  const link = button.closest('li').querySelector('.title')
  button.setAttribute('aria-label', `${button.textContent}: ${link.textContent}`)
  button.hidden = false
  button.addEventListener('click', () => act(() => keep(link), 'It is on your list.'))
}
