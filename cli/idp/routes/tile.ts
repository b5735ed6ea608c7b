import { Failure } from '../../errors/failure.js'
import { type Tile, TILE_KEYS } from './route.js'

const RUNS_CODE: readonly string[] = ['javascript:', 'vbscript:']

/** Returns the tile with these fields; undefined if all are blank. */
export function tileOf(fields: Readonly<Partial<Record<keyof Tile, string>>>): Tile | undefined {
  const text = (key: keyof Tile): string => {
    const value = fields[key] ?? ''
    return value.trim() === '' ? '' : value
  }
  if (TILE_KEYS.every((key) => text(key) === '')) return undefined
  return {
    displayName: text('displayName'),
    description: text('description'),
    iconURL: text('iconURL'),
    launchURL: text('launchURL'),
  }
}

/** @throws Failure if a link of the tile would run code in the page that shows it. */
export function refuseScripts(tile: Tile, where: string): void {
  refuse(tile.iconURL, RUNS_CODE, `${where}.iconURL`)
  refuse(tile.launchURL, [...RUNS_CODE, 'data:'], `${where}.launchURL`)
}

function refuse(link: string, schemes: readonly string[], where: string): void {
  if (!URL.canParse(link)) return
  const { protocol } = new URL(link)
  if (schemes.includes(protocol))
    throw new Failure('input', `${where}: a ${protocol} link is not shown on a tile; use https`)
}
