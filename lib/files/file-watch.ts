import type { FSWatcher } from 'chokidar'
import { realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Reports that a file may have changed. Read the file to find out. */
export interface FileWatch {
  /**
   * Watches the file's current location: the target of its symbolic links, or a folder that was created
   * again. Call it before each read.
   */
  follow(): Promise<void>
  close(): Promise<void>
}

/**
 * The maximum number of attempts. If a folder is created and removed too fast, it is watched again at the
 * next read.
 */
const MAX_TRIES = 10

/**
 * Watches a file through its folder. The file may be replaced by renaming, removed and created again, or be a
 * symbolic link whose target changes (Kubernetes replaces `..data` in the same folder). While the folder
 * itself is gone, its nearest existing parent is watched.
 * @param failed - called if the system cannot watch the file.
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
      // Even without close(), neither the watch nor its timers must keep the process alive.
      persistent: false,
      // Other entries of the folder need no watch, because the folder's watch reports added and removed
      // names.
      ignored: (entry) => entry !== path && !folders.includes(entry),
    })
    opened.on('all', changed).on('raw', changed)
    // A folder that is created again at once may look the same, but the old watch does not observe it.
    opened.on('unlinkDir', () => (watched = ''))
    opened.on('error', (error) =>
      failed(error instanceof Error && 'code' in error ? String(error.code) : 'unknown'),
    )
    await new Promise<void>((resolve) => opened.once('ready', resolve))
    return opened
  }

  const follow = async () => {
    for (let tries = 0; tries < MAX_TRIES && !isClosed; tries++) {
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

/** Returns the folder, or its nearest existing parent. */
async function nearest(folder: string): Promise<{ readonly folder: string; readonly identity: string }> {
  const found = await stat(folder, { bigint: true }).catch(() => undefined)
  if (found?.isDirectory() === true || dirname(folder) === folder)
    return { folder, identity: `${folder}:${found?.dev}:${found?.ino}:${found?.birthtimeNs}` }
  return nearest(dirname(folder))
}
