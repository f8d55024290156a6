/** Settings for tests: loaded from text, and the problems of those that cannot be. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LoadedSettings, type LoadOptions, loadSettings, SettingsError } from '../../config/load.ts'

/** Loads the text of a settings file. `name` decides how it is parsed; messages call the file by it. */
export async function loadText(text: string, options: LoadOptions = {}, name = 'site.yaml'): Promise<LoadedSettings> {
  const folder = await mkdtemp(join(tmpdir(), 'settings-'))
  const file = join(folder, name)
  const shorten = (sentences: readonly string[]) => sentences.map(sentence => sentence.replaceAll(file, name))
  try {
    await writeFile(file, text)
    const loaded = await loadSettings({ ...options, file })
    return { ...loaded, warnings: shorten(loaded.warnings) }
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    throw new SettingsError(shorten(error.problems))
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** What is wrong with settings: the sentences of the error, none when they load. */
export async function problemsOf(loading: Promise<unknown>): Promise<readonly string[]> {
  try {
    await loading
    return []
  } catch (error) {
    if (error instanceof SettingsError) return error.problems
    throw error
  }
}
