/** The composition root: the only place that knows every part. */

import { run } from './cli/cli.ts'
import type { Commands } from './cli/commands.ts'
import { keepNextTickFast } from './next-tick.ts'

keepNextTickFast()

// A server has no use for what the other commands are made of, nor they for it.
const serving = () => import('./serve.ts')
const ofSites = () => import('./site-commands.ts')
const ofStores = () => import('./store-commands.ts')

const commands: Commands = {
  serve: async (...given) => (await serving()).serve(...given),
  check: async (...given) => (await ofSites()).check(...given),
  export: async (...given) => (await ofSites()).exportCommand(...given),
  import: async (...given) => (await ofSites()).importCommand(...given),
  explain: async (...given) => (await ofSites()).explain(...given),
  reactions: async (...given) => (await ofSites()).reactions(...given),
  outbound: async (...given) => (await ofSites()).outbound(...given),
  query: async (...given) => (await ofSites()).query(...given),
  stored: async (...given) => (await ofStores()).stored(...given),
  sites: async (...given) => (await ofStores()).sites(...given),
  backup: async (...given) => (await ofStores()).backup(...given),
  restore: async (...given) => (await ofStores()).restore(...given),
  migrate: async (...given) => (await ofStores()).migrate(...given),
  moveBlobs: async (...given) => (await ofStores()).moveBlobs(...given),
  checkSaved: async (...given) => (await ofStores()).checkSaved(...given),
  askHealth: async (...given) => (await import('./ask-health.ts')).askHealth(...given),
}

process.exitCode = await run(process.argv.slice(2), commands)
