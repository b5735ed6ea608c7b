import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

/** What a browser of a test must not do: ask anybody for updates, and read a profile. */
const ARGUMENTS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]

/** The installed Chromium; undefined for none. */
const installed = (): string | undefined => {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const paths = folders.flatMap((folder) =>
    ['chromium', 'chromium-browser'].map((name) => join(folder, name)),
  )
  return [process.env['CHROMIUM'] ?? [], paths].flat().find(isExecutable)
}

/**
 * A browser with a profile of its own that ends with it. Where there is none, undefined and a line that says
 * so, unless this is CI.
 * @throws Error in CI without a browser.
 */
export async function openBrowser(): Promise<Browser | undefined> {
  const executablePath = installed()
  if (executablePath !== undefined)
    return chromium.launch({ executablePath, args: ARGUMENTS, timeout: 60_000 })
  const missing = 'no chromium is installed: apt-get install chromium, or name one in CHROMIUM'
  if (process.env['CI'] === 'true') throw new Error(missing)
  console.warn(`SKIPPED: ${missing}`)
  return undefined
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
