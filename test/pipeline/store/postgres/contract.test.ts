import { describeStore } from '../contract/suite.ts'
import { openSchema } from './fixture.ts'

describeStore('PostgreSQL', openSchema)
