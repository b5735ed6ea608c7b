import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { privateFolder, readPrivate, replacePrivate, writePrivate } from './private-file.js'
import { Store } from './store.js'

/** A store whose permanent kinds of entries are in a file. */
export interface StateFile {
  readonly store: Store
  /** Resolves when all changes so far are on the disk. Concurrent changes are written together. */
  readonly written: () => Promise<void>
  /** Writes pending changes before the process ends. */
  readonly close: () => void
}

/** Reads the state from the folder. An unreadable file is renamed, and `warn` receives the reason. */
export function openState(folder: string, now: () => number, warn: (text: string) => void): StateFile {
  privateFolder(folder)
  const path = join(folder, 'state.json')
  let version = 0
  let onDisk = 0
  let writing: Promise<void> | undefined
  const store = new Store(now, () => version++)
  const text = readPrivate(path)
  if (text !== undefined) {
    try {
      store.fromText(text)
    } catch {
      renameSync(path, `${path}.damaged`)
      warn(`${path} could not be read and is now ${path}.damaged. All users must sign in again.`)
    }
  }
  onDisk = version
  const writeOnce = async (): Promise<void> => {
    const target = version
    await replacePrivate(path, store.toText())
    onDisk = Math.max(onDisk, target)
  }
  const written = async (): Promise<void> => {
    const wanted = version
    while (onDisk < wanted) {
      writing ??= writeOnce().finally(() => (writing = undefined))
      await writing
    }
  }
  return {
    store,
    written,
    close: () => {
      if (onDisk < version) writePrivate(path, store.toText())
    },
  }
}
