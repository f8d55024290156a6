/** The reader and writer of YAML: a server without a settings file needs neither. */

import { lazyPackage } from '../pipeline/lazy-package.ts'

export const yaml = lazyPackage<typeof import('yaml')>('yaml')
