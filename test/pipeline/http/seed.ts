/** How long and from which seed the properties of this folder run; `FUZZ=<runs>` looks further, at random. */

const fuzz = Number(process.env.FUZZ ?? 0)

/** Parameters for `fc.assert`. */
export const RUNS = fuzz > 0 ? { numRuns: fuzz } : { numRuns: 300, seed: 20261120 }
