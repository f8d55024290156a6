// Builds markup through the DOM. Text goes in as text, so whatever a visitor types arrives as what they typed.

/**
 * @param {string} name element name
 * @param {Record<string, string>} attributes
 * @param {...(Node | string)} children strings become text
 */
export function element(name, attributes = {}, ...children) {
  const node = document.createElement(name)
  for (const [attribute, value] of Object.entries(attributes)) node.setAttribute(attribute, value)
  node.append(...children)
  return node
}

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })

/**
 * A signed note, in the form that the house rules permit.
 * @param {{ name: string, date: string, text: string }} note date as YYYY-MM-DD
 * @param {Record<string, string>} attributes of the list item
 */
export function note({ name, date, text }, attributes) {
  const time = element('time', { datetime: date }, day.format(new Date(date)))
  const by = element('p', { class: 'by' }, element('b', { class: 'name' }, name), ' ', time)
  const lines = text.split(/\s*\n\s*/).filter(line => line !== '')
  return element('li', attributes, by, ...lines.map(line => element('p', {}, line)))
}

/** What `note` was made of. */
export function noteContent(item) {
  const lines = [...item.querySelectorAll(':scope > p:not(.by)')].map(line => line.textContent.trim())
  return {
    name: item.querySelector('.name')?.textContent.trim() ?? '',
    date: item.querySelector('time')?.getAttribute('datetime') ?? today(),
    text: lines.join('\n'),
  }
}

export const today = () => new Date().toISOString().slice(0, 10)
