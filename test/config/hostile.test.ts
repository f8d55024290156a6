import { expect } from 'chai'
import fc from 'fast-check'
import { parse, stringify } from 'yaml'
import { allVariables, fromSet } from '../../config/environment.ts'
import { FileProblem, parsingSettings } from '../../config/file.ts'
import { type LoadedSettings, loadSettings, SettingsError } from '../../config/load.ts'
import { outline, outlineAt } from '../../config/outline.ts'
import { shownSettings } from '../../config/redact.ts'
import { siteTable } from '../../config/sites.ts'
import { atOnce } from '../../pipeline/tree/steps.ts'

const RUNS = { seed: 3, numRuns: 300 }

const serverKeys = [...outline.keys.keys()]
const entry = outlineAt(['sites', 0])
const siteKeys = entry?.kind === 'group' ? [...entry.keys.keys()] : []

/** Values that are near to right ones more often than by chance. */
const scrap = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('on', 'off', '1MiB', '10s', '*', 'a.example', 'https://a.example', 0, 1, true, null),
  },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  { weight: 1, arbitrary: fc.string() },
)
const site = fc.dictionary(fc.constantFrom(...siteKeys, 'constructor', '__proto__'), scrap, { maxKeys: 2 })
const sites = fc.array(
  site.map(keys => ({ host: 'a.example', ...keys })),
  { maxLength: 2 },
)
const tree = fc.record(
  { server: fc.dictionary(fc.constantFrom(...serverKeys), scrap, { maxKeys: 1 }), defaults: site, sites },
  { requiredKeys: [] },
)

/** The settings, or undefined when they are refused as they should be; anything else is a fault. */
async function loadedOrRefused(load: () => Promise<LoadedSettings>): Promise<LoadedSettings | undefined> {
  try {
    return await load()
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    expect(error.problems).to.not.have.length(0)
    for (const problem of error.problems) expect(problem).to.match(/^[^\n]{5,}$/)
    return undefined
  }
}

describe('settings: whatever is written', () => {
  it('is taken or refused with sentences; what is taken can be shown, loaded again and used', async () => {
    let taken = 0
    await fc.assert(
      fc.asyncProperty(tree, async ({ server, ...written }) => {
        const assignments = Object.entries({ ...written, ...server }).map(([key, value]) => ({
          path: [key],
          value,
          origin: 'test',
        }))
        const loaded = await loadedOrRefused(() => loadSettings({ assignments }))
        if (!loaded) return
        taken++
        siteTable(loaded.settings).siteFor('a.example')
        const shown = parse(stringify(shownSettings(loaded.settings)))
        const again = Object.entries(shown).map(([key, value]) => ({ path: [key], value, origin: 'test' }))
        expect(shownSettings((await loadSettings({ assignments: again })).settings)).to.deep.equal(shown)
      }),
      RUNS,
    )
    expect(taken).to.be.above(30)
  })

  it('in the environment is taken or refused', async () => {
    const names = [...allVariables(outline, [])]
    const env = fc.dictionary(fc.constantFrom(...names), fc.oneof(fc.string(), fc.json(), scrap.map(String)), {
      maxKeys: 4,
    })
    await fc.assert(
      fc.asyncProperty(env, async env => {
        await loadedOrRefused(() => loadSettings({ env }))
      }),
      RUNS,
    )
  })

  it('with --set is an assignment or a sentence', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.tuple(fc.constantFrom(...serverKeys), fc.string()).map(pair => pair.join('=')),
        ),
        text => {
          const result = fromSet(text)
          if (typeof result === 'string') expect(result).to.include('--set')
          else expect(outlineAt(result.path)).to.not.equal(undefined)
        },
      ),
      RUNS,
    )
  })

  it('SEC-10 a file of thousands of sites is read in turns with requests', () => {
    const sites = Array.from({ length: 300 }, (_, i) => ({ host: `s${i}.example`, credentials: [{ user: 'a' }] }))
    const reading = parsingSettings(stringify({ sites }), 'a.yaml')
    let steps = 0
    let step = reading.next()
    for (; !step.done; step = reading.next()) steps++
    expect(step.value.tree).to.deep.equal({ sites })
    expect(step.value.origins.get('sites[299].credentials[0].user')).to.equal('a.yaml:901')
    expect(steps).to.be.at.least(10)
  })

  it('as the text of a file is parsed or refused', () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'a:-[]{}&*!|>"\'#%\n \t,?') }))
    fc.assert(
      fc.property(text, fc.constantFrom('a.yaml', 'a.json'), (text, name) => {
        try {
          atOnce(parsingSettings(text, name))
        } catch (error) {
          expect(error).to.be.instanceOf(FileProblem)
        }
      }),
      { seed: 4, numRuns: 2000 },
    )
  })
})
