import { existsSync, type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'

/** Editors write a file in several steps. */
const SETTLED_MS = 60

/**
 * Tells which files below some folders changed, once they have been left alone for a moment. Folders that are not there are
 * left out.
 */
export function watchedPaths(
  folder: string,
  folders: readonly string[],
  changed: (paths: readonly string[]) => void,
): { readonly close: () => void } {
  const paths = new Set<string>()
  let settled: NodeJS.Timeout | undefined
  const watchers: FSWatcher[] = folders
    .filter((one) => existsSync(join(folder, one)))
    .map((one) =>
      watch(join(folder, one), { recursive: true }, (_, name) => {
        if (name === null) return
        paths.add(join(one, name))
        clearTimeout(settled)
        settled = setTimeout(() => {
          const all = [...paths].sort()
          paths.clear()
          changed(all)
        }, SETTLED_MS)
      }),
    )
  return {
    close: () => {
      clearTimeout(settled)
      for (const watcher of watchers) watcher.close()
    },
  }
}
