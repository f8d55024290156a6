/** Every row of the table of clients. */

import type { Replay } from '../replay.ts'
import { FINDER } from './finder.ts'
import { LINUX } from './linux.ts'
import { OFFICE_REPLAYS } from './office.ts'
import { SYNC } from './sync.ts'
import { TOOLS } from './tools.ts'
import { WINDOWS } from './windows.ts'

export const REPLAYS: readonly Replay[] = [...FINDER, ...WINDOWS, ...OFFICE_REPLAYS, ...LINUX, ...TOOLS, ...SYNC]
