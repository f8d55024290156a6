/** An object store of the tests' own: OpenStack Swift, whose S3 interface is begun with the first test that needs one. */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CreateBucketCommand, ListMultipartUploadsCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import { freePort } from './ports.ts'
import { shared } from './shared.ts'

const PROGRAM = fileURLToPath(new URL('swift-server.py', import.meta.url))

/** Debian's own, for which its packages are. */
const PYTHON = '/usr/bin/python3'

export interface ObjectServer {
  port: number
  bucket: string
  /** A client with the rights of the server under test. */
  client: S3Client
  /** `s3://…` for a prefix. @param port of whatever leads there */
  url(prefix: string, port?: number): string
  /** Names of all objects below a prefix. */
  names(prefix: string): Promise<string[]>
  /** Names of uploads below a prefix that were begun and not finished. */
  unfinished(prefix: string): Promise<string[]>
  start(): Promise<void>
  /** Ends it as when the power goes. */
  kill(): Promise<void>
  /** Has it stand still until the function that comes back is called: connections stay open, nothing answers. */
  hang(): () => void
  remove(): Promise<void>
}

/** An object store that is not yet running. */
export async function newObjectServer(): Promise<ObjectServer> {
  const folder = mkdtempSync(join(tmpdir(), 'scriptorium-swift-'))
  const port = await freePort()
  const bucket = 'blobs'
  const key = { accessKeyId: 'test:tester', secretAccessKey: 'testing' }
  const endpoint = (at: number) => `http://127.0.0.1:${at}`
  const client = new S3Client({
    region: 'us-east-1',
    endpoint: endpoint(port),
    forcePathStyle: true,
    credentials: key,
    requestChecksumCalculation: 'WHEN_REQUIRED',
  })
  let server: ChildProcess | undefined

  async function kill(): Promise<void> {
    const running = server
    server = undefined
    if (running === undefined || running.exitCode !== null) return
    const ended = new Promise(resolve => running.once('exit', resolve))
    running.kill('SIGKILL')
    await ended
  }

  return {
    port,
    bucket,
    client,
    url: (prefix, at = port) => {
      const id = encodeURIComponent(key.accessKeyId)
      return `s3://${id}:${key.secretAccessKey}@${bucket}/${prefix}?endpoint=${encodeURIComponent(endpoint(at))}`
    },
    async names(Prefix) {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix }))
      return Contents.map(({ Key = '' }) => Key)
    },
    async unfinished(Prefix) {
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix }))
      return Uploads.map(({ Key = '' }) => Key)
    },
    async start() {
      const started = spawn(PYTHON, [PROGRAM, folder, String(port)], { stdio: ['ignore', 'pipe', 'pipe'] })
      server = started
      let said = ''
      started.stderr.setEncoding('utf8').on('data', text => {
        said += text
      })
      await new Promise<void>((resolve, reject) => {
        started.stdout.once('data', () => resolve())
        started.once('exit', code => reject(new Error(`Swift ended with ${code}: ${said}`)))
      })
      await client.send(new CreateBucketCommand({ Bucket: bucket })).catch(error => {
        if (error.name !== 'BucketAlreadyOwnedByYou') throw error
      })
    },
    kill,
    hang() {
      const { pid } = server ?? {}
      if (pid === undefined) throw new Error('Swift does not run')
      process.kill(pid, 'SIGSTOP')
      return () => void process.kill(pid, 'SIGCONT')
    },
    async remove() {
      client.destroy()
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The object store that all tests of this process share; it ends with the process. */
export const sharedObjects = shared(() => newObjectServer())
