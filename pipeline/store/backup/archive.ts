/**
 * Backups as one file: a tar archive of the folder, in the format of POSIX (IEEE 1003.1, pax, "ustar Interchange Format"),
 * which every `tar` reads. Archives that a `tar` has made of such a folder are read as well.
 */

import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { Unusable } from '../errors.ts'
import { openPlainFile } from '../plain-file.ts'
import { syncFolder } from '../synced-names.ts'

const BLOCK = 512

/** The largest size that eleven octal digits hold; larger ones are written in base 256, as GNU tar does. */
const MOST_OCTAL = 0o77777777777

/** What a backup consists of, in whichever folder of the archive it stands. */
const PART = /(?:^|\/)(backup\.json|state-[\w-]+\.jsonl|objects\/[0-9a-f]{2}\/[0-9a-f]{62})$/

/** Bytes read at a time. */
const PIECE = 1024 * 1024

/**
 * Writes a folder's files to an archive, which takes its name only when it is complete and on disk. Until then it is beside
 * the folder, so that it goes where the folder goes when the command is killed.
 *
 * @param folder on the same file system as `file`
 * @param file replaced when there is one; only its owner may read it
 */
export async function packBackup(folder: string, file: string): Promise<void> {
  const unfinished = `${folder}.new`
  const archive = await open(unfinished, 'w', 0o600)
  try {
    for (const path of await filesIn(folder)) {
      const { size, mtimeMs } = await stat(path)
      await writeAll(archive, header(relative(folder, path).replaceAll('\\', '/'), size, mtimeMs))
      for await (const piece of createReadStream(path, { highWaterMark: PIECE })) await writeAll(archive, piece)
      await writeAll(archive, Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK))
    }
    await writeAll(archive, Buffer.alloc(2 * BLOCK))
    await archive.datasync()
  } catch (error) {
    await archive.close()
    await rm(unfinished, { force: true })
    throw error
  }
  await archive.close()
  await rename(unfinished, file)
  syncFolder(dirname(file))
}

async function filesIn(folder: string): Promise<string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  return found
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .sort()
}

function header(name: string, size: number, modified: number): Buffer {
  const block = Buffer.alloc(BLOCK)
  block.write(name, 0, 100, 'utf8')
  const octal = (value: number, at: number, digits: number) =>
    block.write(value.toString(8).padStart(digits, '0'), at, digits, 'latin1')
  octal(0o600, 100, 7)
  octal(0, 108, 7)
  octal(0, 116, 7)
  if (size <= MOST_OCTAL) octal(size, 124, 11)
  else {
    block[124] = 0x80
    block.writeBigUInt64BE(BigInt(size), 128)
  }
  octal(Math.max(0, Math.floor(modified / 1000)), 136, 11)
  block.write('0', 156, 'latin1')
  block.write('ustar\0' + '00', 257, 'latin1')
  block.write(`${checksum(block).toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}

/** The sum of all bytes, those of the checksum itself as blanks. */
function checksum(block: Uint8Array): number {
  let sum = 0
  for (const [i, byte] of block.entries()) sum += i >= 148 && i < 156 ? 0x20 : byte
  return sum
}

/**
 * Unpacks an archive of a backup into an empty folder. What it says about owners and modes does not count.
 *
 * @throws Unusable when it is damaged, cut short, or holds anything else than a backup
 */
export async function unpackBackup(file: string, folder: string): Promise<void> {
  const archive = await openPlainFile(file, 'followed')
  try {
    const { size: length } = await archive.stat()
    const block = Buffer.alloc(BLOCK)
    let at = 0
    for (;;) {
      if (at + BLOCK > length) throw new Unusable(`${file} is cut short`)
      await readAll(archive, block, at)
      if (block.every(byte => byte === 0)) return
      const { name, size, type } = readHeader(block, file)
      at += BLOCK
      if (at + size > length) throw new Unusable(`${file} is cut short`)
      if (type === '0' || type === '\0') await unpackPart(archive, { name, size, at, file, folder })
      else if (!'5xg'.includes(type)) throw new Unusable(`${file} holds something else than a backup (${name})`)
      at += Math.ceil(size / BLOCK) * BLOCK
    }
  } finally {
    await archive.close()
  }
}

interface Part {
  name: string
  size: number
  /** Offset of its bytes. */
  at: number
  file: string
  folder: string
}

async function unpackPart(archive: FileHandle, { name, size, at, file, folder }: Part): Promise<void> {
  const part = PART.exec(name)?.[1]
  if (part === undefined) throw new Unusable(`${file} holds something else than a backup (${name})`)
  const target = join(folder, part)
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  const handle = await open(target, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? new Unusable(`${file} holds ${part} twice`) : error
  })
  try {
    const piece = Buffer.alloc(Math.min(size, PIECE))
    for (let done = 0; done < size; ) {
      const wanted = piece.subarray(0, Math.min(piece.length, size - done))
      await readAll(archive, wanted, at + done)
      await writeAll(handle, wanted)
      done += wanted.length
    }
  } finally {
    await handle.close()
  }
}

function readHeader(block: Buffer, file: string): { name: string; size: number; type: string } {
  const text = (from: number, to: number) => block.toString('utf8', from, to).replace(/\0.*$/s, '')
  if (Number.parseInt(text(148, 156), 8) !== checksum(block))
    throw new Unusable(`${file} is no tar archive, or damaged`)
  const size = (block[124] ?? 0) & 0x80 ? Number(block.readBigUInt64BE(128)) : Number.parseInt(text(124, 136), 8)
  if (!Number.isSafeInteger(size) || size < 0) throw new Unusable(`${file} is damaged`)
  const prefix = block.toString('latin1', 257, 262) === 'ustar' && block[263] !== 0x20 ? text(345, 500) : ''
  const name = text(0, 100)
  return { name: prefix === '' ? name : `${prefix}/${name}`, size, type: block.toString('latin1', 156, 157) }
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at)).bytesWritten
}

/** @throws Unusable when the file ends before */
async function readAll(handle: FileHandle, buffer: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < buffer.length; ) {
    const { bytesRead } = await handle.read(buffer, at, buffer.length - at, position + at)
    if (bytesRead === 0) throw new Unusable('the archive ended before its size')
    at += bytesRead
  }
}
