import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

/** Arguments that keep a test browser from checking for updates and reading a profile. */
const ARGUMENTS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]

/** Returns the path of the installed Chromium, or undefined. */
const installed = (): string | undefined => {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const paths = folders.flatMap((folder) =>
    ['chromium', 'chromium-browser'].map((name) => join(folder, name)),
  )
  return [process.env['CHROMIUM'] ?? [], paths].flat().find(isExecutable)
}

/**
 * Starts a browser with a temporary profile. If there is no browser, prints a note and returns undefined.
 *
 * @throws Error in CI if there is no browser.
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
