import { posix } from 'node:path'
import type { SourceFile } from './source-files.js'

/**
 * The room of a file: its folder. A file directly in `lib` is a room of its own, because everybody may import
 * some of them and few may import the others.
 */
export const roomOf = (path: string): string => {
  const folder = posix.dirname(path)
  return folder === 'lib' ? path : folder
}

/**
 * Imports from one room into another, types included. Index files are not counted: they are for those
 * outside.
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

/** Every ring of rooms that import each other, by one import for each of its steps. */
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

/** Imports of a folder's own files by a folder inside it. */
export const parentImports = (files: readonly SourceFile[]): readonly string[] =>
  [...roomImports(files)].flatMap(([room, into]) =>
    [...into].filter(([to]) => room.startsWith(`${to}/`)).map(([, step]) => step),
  )
