import { describeStore } from '../contract/suite.ts'
import { openEmpty } from './fixture.ts'

describeStore('PostgreSQL', openEmpty)
