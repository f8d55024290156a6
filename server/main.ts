/** The composition root: the only place that knows every part. */

import { askHealth } from './ask-health.ts'
import { run } from './cli/cli.ts'
import type { Commands } from './cli/commands.ts'
import { keepNextTickFast } from './next-tick.ts'
import { serve } from './serve.ts'
import { check, explain, exportCommand, importCommand, outbound, query, reactions } from './site-commands.ts'
import { backup, checkSaved, migrate, restore, sites, stored } from './store-commands.ts'

keepNextTickFast()

const commands: Commands = {
  serve,
  check,
  export: exportCommand,
  import: importCommand,
  explain,
  reactions,
  outbound,
  query,
  stored,
  sites,
  backup,
  restore,
  migrate,
  checkSaved,
  askHealth,
}

process.exitCode = await run(process.argv.slice(2), commands)
