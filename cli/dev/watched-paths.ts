import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { join, sep } from 'node:path'

/**
 * The time for which files must be unchanged, in milliseconds, because editors write a file in several steps.
 */
const SETTLED_MS = 60

/**
 * Reports which files below some folders have changed, once they have been unchanged for a moment. Missing
 * folders are ignored.
 */
export function watchedPaths(
  folder: string,
  folders: readonly string[],
  changed: (paths: readonly string[]) => void,
): { readonly close: () => void } {
  const paths = new Set<string>()
  const watchers = new Map<string, FSWatcher>()
  let settled: NodeJS.Timeout | undefined
  let isWatching = false
  const tell = () => {
    const all = [...paths].sort()
    paths.clear()
    changed(all)
  }
  // Each folder is watched separately, because a recursive watch of Node 20 loses a file that an editor
  // replaces with another one of the same name.
  const watchFolder = (path: string): void => {
    // A folder that is created again needs a new watch.
    forget(path)
    let entries
    try {
      entries = readdirSync(join(folder, path), { withFileTypes: true })
      const watcher = watch(join(folder, path), (_, name) => {
        if (name === null) return
        paths.add(join(path, name))
        watchFolder(join(path, name))
        clearTimeout(settled)
        settled = setTimeout(tell, SETTLED_MS)
      })
      watcher.on('error', () => forget(path))
      watchers.set(path, watcher)
    } catch {
      // It is a file, or it no longer exists.
      return
    }
    for (const entry of entries) {
      if (entry.isDirectory()) watchFolder(join(path, entry.name))
      else if (isWatching) paths.add(join(path, entry.name))
    }
  }
  const forget = (path: string): void => {
    for (const [one, watcher] of watchers)
      if (one === path || one.startsWith(join(path, sep))) {
        watcher.close()
        watchers.delete(one)
      }
  }
  for (const one of folders) watchFolder(one)
  isWatching = true
  return {
    close: () => {
      clearTimeout(settled)
      for (const watcher of watchers.values()) watcher.close()
    },
  }
}
