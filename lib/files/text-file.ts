import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { Unavailable } from '../errors.js'

/**
 * Returns the content of a regular file.
 * @param what - the description of the content for the error, such as `the DSN`.
 * @throws Unavailable, with advice, if the file cannot be read, is too large or is not text.
 */
export async function readTextFile(path: string, what: string, mostBytes: number): Promise<string> {
  let bytes: Buffer
  try {
    // Opening a pipe would otherwise block.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    bytes = await startOf(file, mostBytes + 1).finally(() => file.close())
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    const advice = ADVICE[code]?.replace('WHAT', what) ?? 'check it'
    throw new Unavailable(`the file ${path} cannot be read (${code}): ${advice}`)
  }
  if (bytes.length > mostBytes)
    throw new Unavailable(`the file ${path} is larger than ${mostBytes} bytes: it must contain only ${what}`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Unavailable(`the file ${path} is not UTF-8: write ${what} into it as plain text`)
  }
}

const ADVICE: Readonly<Record<string, string>> = {
  ENOENT: 'create it, mount it, or correct the path',
  ENOTDIR: 'a part of its path is a file: correct the path',
  EACCES: 'let the user of this process read it',
  EISDIR: 'it is a folder: name the file in it that contains WHAT',
  ELOOP: 'its symbolic links form a loop',
  ENXIO: 'it is a socket: name a regular file',
  ESPIPE: 'it is a pipe or a device: name a regular file',
}

/** Reads at most the given number of bytes. */
async function startOf(file: FileHandle, most: number): Promise<Buffer> {
  const stat = await file.stat()
  if (stat.isDirectory()) throw Object.assign(new TypeError(), { code: 'EISDIR' })
  if (!stat.isFile()) throw Object.assign(new TypeError(), { code: 'ESPIPE' })
  const bytes = Buffer.alloc(most)
  let length = 0
  for (;;) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, length)
    length += bytesRead
    if (bytesRead === 0 || length === bytes.length) return bytes.subarray(0, length)
  }
}
