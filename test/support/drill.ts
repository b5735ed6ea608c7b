import { leftOut } from './summary.js'

/** True under `npm run drill`: the same tests with the big counts. */
export const drilling = process.env.ASHLAR_DRILL === '1'

/** `small` in `npm test`, `big` in `npm run drill`. */
export const drill = (small: number, big: number): number => (drilling ? big : small)

/** For a suite that is not steady enough yet to hold up every change: it runs in `npm run drill`, and is named elsewhere. */
export function describeInDrill(title: string, define: (this: Mocha.Suite) => void): void {
  if (drilling) describe(title, define)
  else leftOut(title, 'runs in npm run drill')
}
