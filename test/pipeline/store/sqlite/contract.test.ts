import { describeStore } from '../contract/suite.ts'
import { openTemporary } from '../fixture.ts'

describeStore('SQLite', openTemporary)
