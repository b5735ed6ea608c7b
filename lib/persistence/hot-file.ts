import { realpath } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Tells that a file may have changed; reading it says whether it did. */
export interface FileWatch {
  /** Watches where the file's symbolic links lead now, as well. */
  follow(): Promise<void>
  close(): Promise<void>
}

/**
 * Watches a file through its folder, so that it may be renamed over, removed and made again, or be a symbolic link that is
 * swapped (Kubernetes swaps the `..data` beside it).
 * @param failed - hears that the system refuses to watch.
 */
export async function watchFile(
  path: string,
  changed: () => void,
  failed: (code: string) => void,
): Promise<FileWatch> {
  const { watch } = await import('chokidar')
  let target = dirname(path)
  const folders = () => [dirname(path), target]
  const watcher = watch(dirname(path), {
    depth: 0,
    followSymlinks: false,
    ignoreInitial: true,
    // Who forgets to destroy() has a process that ends nevertheless, as with the timers.
    persistent: false,
    // What else is in the folder needs no watch of its own: the folder's tells of names that come and go.
    ignored: (entry) =>
      entry !== path && !folders().includes(entry) && dirname(entry) !== dirname(dirname(path)),
  })
  watcher.on('all', changed).on('raw', changed)
  watcher.on('error', (error) =>
    failed(error instanceof Error && 'code' in error ? String(error.code) : 'unknown'),
  )
  await new Promise<void>((resolve) => watcher.once('ready', resolve))
  const follow = async () => {
    const found = await realpath(path).then(dirname, () => target)
    if (found === target) return
    if (target !== dirname(path)) watcher.unwatch(target)
    target = found
    if (target !== dirname(path)) watcher.add(target)
  }
  await follow()
  return { follow, close: () => watcher.close() }
}
