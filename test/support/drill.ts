/** True under `npm run drill`: the same tests with the big counts. */
export const drilling = process.env.ASHLAR_DRILL === '1'

/** `small` in `npm test`, `big` in `npm run drill`. */
export const drill = (small: number, big: number): number => (drilling ? big : small)
