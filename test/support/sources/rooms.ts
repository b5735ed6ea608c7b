import { posix } from 'node:path'
import type { SourceFile } from './source-files.js'

/**
 * Returns the folder of a file, which counts as one module. A file directly in `lib` is a module of its own,
 * because some of these files may be imported everywhere and others may not.
 */
export const roomOf = (path: string): string => {
  const folder = posix.dirname(path)
  return folder === 'lib' ? path : folder
}

/**
 * Returns the imports between folders, including type imports. Imports by index files are not counted,
 * because they are for users outside the folder.
 */
export function roomImports(files: readonly SourceFile[]): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const rooms = new Map<string, Map<string, string>>()
  const counts = (path: string) => !path.endsWith('/index.ts') && !path.startsWith('lib/gen/')
  for (const { path, imports } of files.filter(({ path }) => counts(path)))
    for (const { to, isPackage } of imports) {
      const [from, into] = [roomOf(path), roomOf(to)]
      if (isPackage || from === into || !counts(to)) continue
      rooms.set(from, (rooms.get(from) ?? new Map<string, string>()).set(into, `${path} → ${to}`))
    }
  return rooms
}

/** Returns the cycles of folders that import each other. Each is shown as one import per step. */
export function roomCycles(files: readonly SourceFile[]): readonly string[] {
  const rooms = roomImports(files)
  const done = new Set<string>()
  const found: string[] = []
  const walk = (room: string, way: readonly string[], steps: readonly string[]): void => {
    const start = way.indexOf(room)
    if (start >= 0) found.push(steps.slice(start).join(', '))
    if (start >= 0 || done.has(room)) return
    for (const [next, step] of rooms.get(room) ?? []) walk(next, [...way, room], [...steps, step])
    done.add(room)
  }
  for (const room of rooms.keys()) walk(room, [], [])
  return found
}

/** Returns the imports by a folder of files directly in its parent folder. */
export const parentImports = (files: readonly SourceFile[]): readonly string[] =>
  [...roomImports(files)].flatMap(([room, into]) =>
    [...into].filter(([to]) => room.startsWith(`${to}/`)).map(([, step]) => step),
  )
