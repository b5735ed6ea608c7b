import type { FSWatcher } from 'chokidar'
import { realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Tells that a file may have changed; reading it says whether it did. */
export interface FileWatch {
  /** Watches where the file is now: where its symbolic links lead, in a folder that was made again. Call it before each read. */
  follow(): Promise<void>
  close(): Promise<void>
}

/** Folders that come and go faster than they can be watched are left to the next read. */
const MOST_TRIES = 10

/**
 * Watches a file through its folder, so that it may be renamed over, removed and made again, or be a symbolic link that is
 * swapped (Kubernetes swaps the `..data` beside it). While the folder itself is gone, what is left of the way to it is watched.
 * @param failed - hears that the system refuses to watch.
 */
export async function watchFile(
  path: string,
  changed: () => void,
  failed: (code: string) => void,
): Promise<FileWatch> {
  const { watch } = await import('chokidar')
  let target = dirname(path)
  let watcher: FSWatcher | undefined
  let watched = ''
  let isClosed = false

  const open = async (folders: readonly string[]): Promise<FSWatcher> => {
    const opened = watch([...folders], {
      depth: 0,
      followSymlinks: false,
      ignoreInitial: true,
      // Who forgets to destroy() has a process that ends nevertheless, as with the timers.
      persistent: false,
      // What else is in the folder needs no watch of its own: the folder's tells of names that come and go.
      ignored: (entry) => entry !== path && !folders.includes(entry),
    })
    opened.on('all', changed).on('raw', changed)
    // A folder that is made again at once may look like the one before, and is not watched by its watch.
    opened.on('unlinkDir', () => (watched = ''))
    opened.on('error', (error) =>
      failed(error instanceof Error && 'code' in error ? String(error.code) : 'unknown'),
    )
    await new Promise<void>((resolve) => opened.once('ready', resolve))
    return opened
  }

  const follow = async () => {
    for (let tries = 0; tries < MOST_TRIES && !isClosed; tries++) {
      target = await realpath(path).then(dirname, () => target)
      const folders = await Promise.all([dirname(path), target].map(nearest))
      const found = folders.map(({ identity }) => identity).join()
      if (found === watched) return
      await watcher?.close()
      watched = found
      watcher = await open([...new Set(folders.map(({ folder }) => folder))])
    }
    if (isClosed) await watcher?.close()
  }

  await follow()
  return {
    follow,
    close: async () => {
      isClosed = true
      await watcher?.close()
    },
  }
}

/** The folder, or the nearest one above it that is there. */
async function nearest(folder: string): Promise<{ readonly folder: string; readonly identity: string }> {
  const found = await stat(folder, { bigint: true }).catch(() => undefined)
  if (found?.isDirectory() === true || dirname(folder) === folder)
    return { folder, identity: `${folder}:${found?.dev}:${found?.ino}:${found?.birthtimeNs}` }
  return nearest(dirname(folder))
}
