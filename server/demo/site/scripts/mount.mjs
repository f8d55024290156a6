// Fills in the addresses that this site is served from, and offers every command for copying.
import { element } from './markup.mjs'
import { say } from './notices.mjs'

const inputs = { site: document.querySelector('#site-address'), mount: document.querySelector('#mount-address') }

/** Writes an address into every place that shows it; `host` and `dav` are the forms that some clients ask for. */
function fill(kind) {
  const address = inputs[kind].value.trim().replace(/\/+$/, '')
  if (!URL.canParse(address)) return
  const { host, hostname, port, protocol } = new URL(address)
  const secure = protocol === 'https:'
  const forms = {
    '': address,
    host,
    hostname,
    port: port || (secure ? '443' : '80'),
    dav: `${secure ? 'davs' : 'dav'}://${host}`,
  }
  for (const [form, text] of Object.entries(forms)) {
    for (const place of document.querySelectorAll(`[data-${kind}="${form}"]`)) place.textContent = text
  }
}

// The mount has a listener of its own. Its port is not told to pages, so the usual one beside ours is a guess to correct.
if (location.protocol.startsWith('http') && location.origin !== inputs.site.value) {
  const beside = location.port === '8080' || location.port === '' ? '8081' : String(Number(location.port) + 1)
  inputs.site.value = location.origin
  inputs.mount.value = `${location.protocol}//${location.hostname}:${beside}`
}
for (const kind of ['site', 'mount']) {
  fill(kind)
  inputs[kind].addEventListener('input', () => fill(kind))
}

// The clipboard exists on secure origins only, localhost among them.
if (navigator.clipboard) {
  const said = document.querySelector('#copied')
  for (const command of document.querySelectorAll('.command')) {
    const button = element('button', { type: 'button', 'aria-label': `Copy: ${command.dataset.what}` }, 'Copy')
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(command.querySelector('code').textContent)
      button.textContent = 'Copied'
      setTimeout(() => (button.textContent = 'Copy'), 1600)
      say(said, `Copied: ${command.dataset.what}.`)
    })
    command.classList.add('has-copy')
    command.append(button)
  }
}
