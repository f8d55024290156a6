/** The thread of checkpoints: one whenever it is told, until it is told to end. */

import { parentPort, workerData } from 'node:worker_threads'
import { connectCheckpoints } from '../schema.ts'
import type { CheckpointData } from './checkpoints.ts'

const { folder, running }: CheckpointData = workerData
const database = connectCheckpoints(folder)

parentPort?.on('message', (order: 'begin' | 'end') => {
  if (order === 'end') {
    database.close()
    parentPort?.close()
    return
  }
  try {
    database.exec('PRAGMA wal_checkpoint(PASSIVE)')
  } catch (error) {
    parentPort?.postMessage({ message: error instanceof Error ? error.message : String(error) })
  } finally {
    Atomics.store(running, 0, 0)
    Atomics.notify(running, 0)
  }
})
