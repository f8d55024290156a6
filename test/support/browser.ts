/** Chromium without windows, for tests that look at pages as visitors do. */

import { type Browser, chromium } from 'playwright-core'
import { BROWSER } from './needs.ts'

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
]

/** A browser of one's own: whoever opens it closes it. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: BROWSER, args: FLAGS })
}
