/** Programs of the system that the tests drive, and how they come onto a machine. */

import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, globSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const HEADLESS_SHELL = '/usr/bin/chromium-headless-shell'

/**
 * Chromium's headless shell: the same engines as in the browser, but no windows, profiles and extensions around them, which
 * cost more than the pages themselves. The whole browser does where it alone is installed; `CHROMIUM` names another one.
 */
export const BROWSER =
  process.env.CHROMIUM ?? [HEADLESS_SHELL, '/usr/bin/chromium'].find(file => existsSync(file)) ?? HEADLESS_SHELL

/** Debian package by the command it brings, or by the path of a file. */
const NEEDED: Readonly<Record<string, string>> = {
  '/usr/lib/python3/dist-packages/swift/proxy/server.py': 'python3-swift',
  '/usr/lib/python3/dist-packages/uno.py': 'python3-uno',
  [BROWSER]: 'chromium-headless-shell',
  cadaver: 'cadaver',
  caddy: 'caddy',
  curl: 'curl',
  'dbus-run-session': 'dbus-daemon',
  gio: 'libglib2.0-bin',
  'gvfsd-dav': 'gvfs-backends',
  litmus: 'litmus',
  'mount.davfs': 'davfs2',
  openssl: 'openssl',
  postgres: 'postgresql',
  rclone: 'rclone',
  'redis-server': 'redis-server',
  script: 'bsdutils',
  soffice: 'libreoffice-writer-nogui',
}

function isInstalled(command: string): boolean {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin', '/usr/libexec', '/usr/lib/gvfs']
  folders.push(...globSync('/usr/lib/postgresql/*/bin'))
  if (command.startsWith('/')) return isAccessible(command, constants.R_OK)
  return folders.some(folder => isAccessible(join(folder, command), constants.X_OK))
}

function isAccessible(file: string, mode: number): boolean {
  try {
    accessSync(file, mode)
    return true
  } catch {
    return false
  }
}

/**
 * Makes sure that everything the tests need is there: as root on a Debian system it is installed.
 *
 * @returns one line that says what is missing, or undefined
 */
export function provideNeeds(print: (line: string) => void): string | undefined {
  const missing = () => Object.entries(NEEDED).filter(([command]) => !isInstalled(command))
  const packages = [...new Set(missing().map(([, name]) => name))]
  if (packages.length === 0) return undefined
  if (process.getuid?.() === 0 && isInstalled('apt-get')) {
    print(`Installing ${packages.join(' ')} with apt-get …`)
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    spawnSync('apt-get', ['update', '-qq'], { env, stdio: ['ignore', 'ignore', 'inherit'] })
    spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  }
  const left = missing().map(([command, name]) => `${command} (Debian package ${name})`)
  return left.length === 0 ? undefined : `The tests need ${left.join(', ')}: install it and run npm test again.`
}
