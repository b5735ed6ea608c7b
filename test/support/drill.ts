/** True under `npm run drill`, which runs the same tests with larger counts. */
export const drilling = process.env.ASHLAR_DRILL === '1'

/** Returns `small` in `npm test` and `big` in `npm run drill`. */
export const drill = (small: number, big: number): number => (drilling ? big : small)
